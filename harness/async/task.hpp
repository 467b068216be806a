// The coroutine type of the whole project: asio::awaitable on one thread's io_context.
//
// A concrete executor, instead of asio's type-erased one, keeps suspensions free of allocation.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>

namespace lockmark {

using executor = asio::io_context::executor_type;

template <class T>
using task = asio::awaitable<T, executor>;

inline constexpr asio::use_awaitable_t<executor> use_task{};

}  // namespace lockmark
