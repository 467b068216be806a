#include "drivers/redis/lock_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

// How long a place that may be missing is waited for.
constexpr duration patience_for_optional_commands = std::chrono::seconds{1};

}  // namespace

std::string lock_key(const std::string& run, const std::string& key) {
  return fmt::format("lockmark:{}:{}", run, key);
}

lock_session::lock_session(loop& l, run_data& run, const instance& who) : loop_(l), run_(run) {
  for (const target& where : run.places) {
    whereabouts& at = *whereabouts_.emplace_back(std::make_unique<whereabouts>(l, where, sent_));
    auto& here = clients_.emplace_back();
    for (std::uint32_t i = 0; i < who.clients; ++i) {
      here.push_back(std::make_unique<connection>(l, at, sent_));
    }
  }
  for (std::uint32_t i = 0; i < who.clients; ++i) {
    owners_.push_back(fmt::format("{}:{}", who.id, i + 1));
  }
}

task<void> lock_session::connect_to(std::size_t place, time_point deadline,
                                    std::exception_ptr& failure) {
  try {
    for (const auto& c : clients_[place]) co_await c->open(deadline);
  } catch (const no_server&) {
    failure = std::current_exception();
  }
}

task<void> lock_session::connect(time_point deadline) {
  if (run_.expendable() > 0) {
    deadline = std::min(deadline, loop_.now() + patience_for_optional_commands);
  }
  std::vector<std::exception_ptr> failures(places());
  scope connecting{loop_};
  for (std::size_t i = 0; i < places(); ++i) {
    connecting.spawn(connect_to(i, deadline, failures[i]));
  }
  co_await connecting.join();
  std::erase(failures, nullptr);
  if (failures.size() > run_.expendable()) std::rethrow_exception(failures.front());
}

task<outcome<grant>> lock_session::renew(request) {
  throw std::logic_error("renew() was called on a lock without a lease");
  co_return refusal::not_owner;
}

task<void> lock_session::close() {
  for (const auto& here : clients_) {
    for (const auto& c : here) c->close();
  }
  co_return;
}

}  // namespace lockmark::redis
