// Exceptions for people to read. Each carries one sentence and no password.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

namespace lockmark {

// The user asked for something impossible: one sentence, exit status 2.
struct usage_error : std::runtime_error {
  using runtime_error::runtime_error;

  template <class First, class... Others>
  usage_error(fmt::format_string<First, Others...> sentence, First&& first, Others&&... others)
      : runtime_error(
            fmt::format(sentence, std::forward<First>(first), std::forward<Others>(others)...)) {}
};

}  // namespace lockmark
