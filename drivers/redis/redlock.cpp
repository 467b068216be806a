// redis/redlock: one lock in several masters that know nothing of each other, held by the client
// that has it in most of them.
//
// SET NX PX asks all of them at once, each for node_timeout at most. The lock is taken if a
// majority said yes and the lease, less the time taken and the clock drift, has not run out;
// otherwise it is undone everywhere, also where no answer came. Survives the loss of a minority. No
// fencing token, and it trusts every server's clock: if a clock jumps, or a server comes back
// without its keys, a second holder gets in.
//
// Each attempt writes another value, so that undoing one attempt never releases another.
//
// Tries once: the random delay before the next try is the workload's retry policy. Waits for every
// place and not only for the quickest majority, so that no answer is left on a connection. Undoing
// is no new attempt: it may begin after the deadline, within the grace.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/majority.hpp"
#include "drivers/redis/owner_lock.hpp"
#include "drivers/redis/redis.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

enum class step : std::uint8_t { take, give_up, extend };

constexpr std::int64_t longest_timeout_ms = 10'000;

// "50ms"; zero for any other text.
std::chrono::milliseconds timeout_of(std::string_view text) {
  if (!text.ends_with("ms")) return {};
  const auto ms = whole_number<std::int64_t>(text.substr(0, text.size() - 2));
  return std::chrono::milliseconds{ms && *ms > 0 && *ms <= longest_timeout_ms ? *ms : 0};
}

class redlock_session final : public lock_session {
 public:
  redlock_session(loop& l, run_data& run, const instance& who)
      : lock_session(l, run, who),
        needed_(majority_of(run.places.size())),
        node_timeout_(timeout_of(run.options.at("node_timeout"))) {}

  task<outcome<grant>> acquire(request r) override {
    const std::string value = fmt::format("{}:{}", owner(r), ++attempts_);
    const grant g{.valid_until = valid_until(loop_.now(), r.lease)};
    const std::vector<vote> taking = co_await ask_all(r, step::take, value);
    const answers taken{taking};
    if (taken.yes >= needed_ && loop_.now() < g.valid_until) {
      held_[{r.client, r.key}] = value;
      co_return g;
    }
    const std::vector<vote> undoing =
        co_await ask_all(taking_back(r), step::give_up, value, &taking);
    const auto ending = ending_of_failure(taken, left_over(taking, undoing), needed_);
    if (ending.in_doubt()) held_.try_emplace({r.client, r.key}, value);
    co_return ending;
  }

  task<outcome<grant>> renew(request r) override {
    const grant g{.valid_until = valid_until(loop_.now(), r.lease)};
    const std::string value = held_value(r);
    const std::vector<vote> extending = co_await ask_all(r, step::extend, value);
    const auto ending = ending_of(answers{extending}, needed_);
    if (!ending.done()) co_return ending.without_value<grant>();
    if (loop_.now() >= g.valid_until) co_return refusal::not_owner;
    co_return g;
  }

  task<outcome<nothing>> release(request r) override {
    const std::string value = held_value(r);
    const std::vector<vote> giving = co_await ask_all(r, step::give_up, value);
    const auto ending = ending_of(answers{giving}, needed_);
    if (ending.done() || ending.refused(refusal::not_owner)) held_.erase({r.client, r.key});
    co_return ending;
  }

 private:
  // The value of the client's last attempt that was granted or may have been; else one that nobody
  // wrote.
  std::string held_value(const request& r) const {
    const auto at = held_.find({r.client, r.key});
    return at == held_.end() ? owner(r) : at->second;
  }

  // Asks all places, except those `unasked` in `before`, if given: there is nothing to undo.
  // `value` and `before` must outlive the call.
  task<std::vector<vote>> ask_all(request r, step what, const std::string& value,
                                  const std::vector<vote>* before = nullptr) {
    std::vector<vote> each(places(), vote::unasked);
    scope asking{loop_};
    for (std::size_t i = 0; i < places(); ++i) {
      const bool nothing_there = before != nullptr && (*before)[i] == vote::unasked;
      if (!nothing_there) asking.spawn(ask(r, what, value, i, each[i]));
    }
    co_await asking.join();
    co_return each;
  }

  task<void> ask(request r, step what, const std::string& value, std::size_t place, vote& to) {
    const time_point patience = loop_.now() + node_timeout_;
    const time_limit limit{std::min(r.deadline, patience), std::min(r.answer_by(), patience)};
    const auto said = co_await asked(r, what, value, client(r, place), limit);
    to = vote_of(said, said.done() && is_yes(said.value()));
  }

  task<outcome<reply>> asked(const request& r, step what, const std::string& value, connection& c,
                             time_limit limit) {
    const std::int64_t lease = milliseconds(r.lease);
    if (what == step::take) return c.command(limit, "SET", key(r), value, "NX", "PX", lease);
    if (what == step::extend) {
      return c.evaluate(limit, run_.scripts[extend_if_owner], 1, key(r), value, lease);
    }
    return c.evaluate(limit, run_.scripts[delete_if_owner], 1, key(r), value);
  }

  const std::size_t needed_;
  const duration node_timeout_;
  std::uint64_t attempts_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> held_;  // by (client, key)
};

constexpr recipe in_most{.make_session = make_session<redlock_session>,
                         .scripts = {delete_if_owner_lua, extend_if_owner_lua},
                         .over = spread::majority};

}  // namespace

lock_kind redlock() {
  return {
      .name = "redis/redlock",
      .summary =
          "SET NX PX in a majority of independent masters; tries once, the retry with its "
          "random delay is the workload's",
      .has = feature::lease | feature::renewable,
      .promises = safety::best_effort,
      .topologies = "redis-independent",
      .algorithm = "Redis's documentation of distributed locks, with the clients' usual drift",
      .cost = {10, 10},
      .options = {{.name = "node_timeout",
                   .values = "1ms to 10000ms",
                   .preset = "50ms",
                   .help = "how long one master is waited for; far below the lease, for each "
                           "attempt waits as long for a master that is down",
                   .accepts =
                       [](std::string_view value) { return timeout_of(value).count() > 0; }}},
      .make = make_driver_of<in_most>,
  };
}

}  // namespace lockmark::redis
