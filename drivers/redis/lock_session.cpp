#include "drivers/redis/lock_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/async/lanes.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

// How long a place that may be missing is waited for.
constexpr duration patience_for_optional_commands = std::chrono::seconds{1};

}  // namespace

std::string lock_key(const std::string& run, const std::string& key) {
  return fmt::format("lockmark:{}:{}", run, key);
}

lock_session::lock_session(loop& l, run_data& run, const instance& who)
    : loop_(l), run_(run), who_(who) {
  for (const target& where : run.places) {
    topology_cache& at = *topology_.emplace_back(std::make_unique<topology_cache>(l, where, sent_));
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
  std::function<task<void>(std::size_t)> one = [=, this](std::size_t client) {
    return log_in(place, client, deadline);
  };
  try {
    co_await in_lanes(loop_, clients_[place].size(), who_.logins, std::move(one));
  } catch (const no_server&) {
    failure = std::current_exception();
  }
}

task<void> lock_session::log_in(std::size_t place, std::size_t client, time_point deadline) {
  const time_point by = std::min(deadline, loop_.now() + who_.login_within);
  co_await clients_[place][client]->open(by);
  if (place == 0 && who_.on_login) who_.on_login();
}

task<void> lock_session::connect(time_point deadline) {
  if (run_.expendable() > 0) {
    who_.login_within = std::min(who_.login_within, patience_for_optional_commands);
  }
  std::vector<std::exception_ptr> failures(places());
  scope connecting{loop_};
  for (std::size_t i = 0; i < places(); ++i) {
    connecting.spawn(connect_to(i, deadline, failures[i]));
  }
  co_await connecting.join();
  who_.on_login = nullptr;
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
