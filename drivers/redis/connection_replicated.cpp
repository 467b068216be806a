// The part of a connection that waits for replicas: for a number of them, or as Redisson's client
// does outside of single servers. Source: CommandAsyncService.syncedEval of Redisson 3.52 to 4.7.
//
// How many replicas the master has is asked once and then believed until their confirmations say
// otherwise. A master that has none is not waited for.
#include <fmt/format.h>

#include <charconv>

#include "drivers/redis/answer_shape.hpp"
#include "drivers/redis/connection.hpp"
#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/slot.hpp"

namespace lockmark::redis {
namespace {

constexpr int wait_ms = 1000;  // Redisson's slavesSyncTimeout

}  // namespace

// Of the master that the command in out_ goes to. None where it cannot be asked: then the command
// will find that out, too.
task<std::int64_t> connection::count_replicas(time_point deadline) {
  const bool is_cluster = how_ == target::form::cluster;
  link* on = &link_;
  if (is_cluster) on = co_await still_serving(slot_of(routing_key(out_)), deadline);
  if (on == nullptr) co_return 0;
  if (!on->is_open()) {
    const std::error_code error = co_await reach(*on, deadline);
    if (error) co_return 0;
  }
  const auto kept = at_->replicas_of(on->at());
  if (kept) co_return *kept;
  std::string command = std::exchange(out_, {});
  append_command(out_, "INFO", "replication");
  const outcome<reply> said = co_await exchange_on(*on, deadline, nullptr, errors::are_answers);
  out_ = std::move(command);
  if (!said.done()) co_return 0;
  std::int64_t count = 0;
  const std::string_view digits = info_field(said.value().text, "connected_slaves");
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  at_->keep_replicas(on->at(), count);
  co_return count;
}

task<outcome<replicated_reply>> connection::exchange_replicated(time_limit until) {
  std::int64_t replicas = 0;
  if (at_ != nullptr) replicas = co_await count_replicas(until.begin);
  outcome<replicated_reply> ending = co_await exchange_confirmed(until, replicas);
  const bool other = ending.done() && ending.value().confirmed != replicas;
  if (other && at_ != nullptr) at_->forget_replicas(last_->at());
  co_return ending;
}

task<outcome<replicated_reply>> connection::exchange_confirmed(time_limit until,
                                                               std::int64_t replicas) {
  replicated_reply result;
  result.replicas = replicas;
  if (result.replicas > 0) {
    append_command(out_, "WAIT", result.replicas, wait_ms);
    followers_ = 1;
  }
  const outcome<reply> said = co_await exchange(until, nullptr, errors::throw_them);
  followers_ = 0;
  if (!said.done()) co_return said.without_value<replicated_reply>();
  result.said = said.value();
  if (result.replicas == 0) co_return result;
  reply confirmed;
  const std::error_code error = co_await last_->read(confirmed, until.answer);
  if (error) {
    last_->close();
    if (is_no_redis(error)) throw no_server(sentence(last_->where(), error));
    if (error == std::errc::timed_out) co_return doubt::deadline;
    co_return doubt::connection_lost;
  }
  // An error confirms nothing.
  if (!confirmed.is(reply::kind::integer) && !confirmed.is(reply::kind::error)) {
    throw no_server(fmt::format("{} answered WAIT with {}, which is no answer to it",
                                last_->where().name(), describe(confirmed)));
  }
  result.confirmed = confirmed.number;
  co_return result;
}

}  // namespace lockmark::redis
