// redis/redisson_multi: Redisson's RMultiLock, several RLocks that are one lock together.
// redis/redisson_red: RedissonRedLock, the same with a majority instead of all.
//
// The RLocks are taken one after the other. They are in one deployment each if the target names
// several, else under names of their own in one. Each is taken for twice as long as the attempt may
// last, and for the real lease at the end; with a watchdog, for the lease that it renews.
//
// redisson_red has one RLock in each of several masters that know nothing of each other, each
// waited for a share of the time. It is not the lock of redis/redlock: hashes instead of strings,
// in sequence instead of at once, and it does not check whether the lease is still valid when the
// last was taken. Redisson itself advises against it by now.
//
// Source: RedissonMultiLock.tryLock() of Redisson 3.52 (unchanged in 4.7). If a server cannot be
// reached, Redisson asks again until its time is over; here the attempt ends, because a driver does
// not retry.
#include <fmt/format.h>

#include <algorithm>

#include "drivers/redis/majority.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/redisson_session.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

// KEYS: lock. ARGV: lease in ms. A script also in Redisson, which has it for several keys at once.
constexpr std::string_view set_lease_lua = "return redis.call('PEXPIRE', KEYS[1], ARGV[1])";

// 1 to 9; 0: not such a number.
std::size_t number_of_locks(std::string_view text) {
  const bool is_one = text.size() == 1 && text[0] >= '1' && text[0] <= '9';
  return is_one ? static_cast<std::size_t>(text[0] - '0') : 0;
}

std::vector<lock_option> and_also(lock_option one, std::vector<lock_option> others) {
  others.insert(others.begin(), one);
  return others;
}

std::vector<std::string> names_in_one_place(const std::string& lock, const option_values& options) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= number_of_locks(options.at("locks")); ++i) {
    names.push_back(fmt::format("{}:{}", lock, i));
  }
  return names;
}

class multi_session final : public redisson_session {
 public:
  multi_session(loop& l, run_data& run, const instance& who)
      : redisson_session(l, run, who),
        in_one_place_(places() == 1 && run.options.contains("locks")),
        parts_(in_one_place_ ? number_of_locks(run.options.at("locks")) : places()),
        needed_(run.over == spread::majority ? majority_of(parts_) : parts_),
        shares_(run.over == spread::majority ? parts_ : 1),
        watched_(watched(run.options)) {
    for (const std::string& k : run.keys) {
      names_.push_back(in_one_place_ ? names_in_one_place(k, run.options)
                                     : std::vector<std::string>(parts_, k));
    }
  }

  task<outcome<grant>> acquire(request r) override {
    std::vector<vote> held(parts_, vote::no);
    const grant watched_grant{.valid_until = end_of(r.lease)};
    const auto ending = co_await take_parts(r, held);
    if (ending.done() && watched_) co_return watched_grant;
    if (ending.done()) {
      const grant g{.valid_until = end_of(r.lease)};
      const std::size_t bounded = co_await set_lease(r, held);
      if (bounded >= needed_) co_return g;
      co_return doubt::connection_lost;
    }
    co_await give_back(r, held);
    const auto left =
        static_cast<std::size_t>(std::count_if(held.begin(), held.end(), may_be_taken));
    if (keeps_others_out(left, parts_, needed_)) co_return answers{held}.why;
    co_return ending.without_value<grant>();
  }

  task<outcome<grant>> renew(request r) override {
    const grant g{.valid_until = end_of(r.lease)};
    const std::vector<bool> each(parts_, true);
    const std::vector<vote> said = co_await ask_parts(r, step::extend, each);
    const auto ending = ending_of(answers{said}, needed_);
    if (!ending.done()) co_return ending.without_value<grant>();
    co_return g;
  }

  task<outcome<nothing>> release(request r) override {
    const std::vector<bool> each(parts_, true);
    const std::vector<vote> said = co_await ask_parts(r, step::give_up, each);
    co_return ending_of(answers{said}, needed_);
  }

 private:
  enum class step : std::uint8_t { extend, give_up };

  rlock part(const request& r, std::size_t i) const {
    const auto number = static_cast<std::uint32_t>(r.key * parts_ + i);
    return {places() == 1 ? 0 : i, names_[r.key][i], owner(r), number};
  }

  rlock numbered(std::uint32_t number, std::uint32_t client) const override {
    const auto key = static_cast<std::uint32_t>(number / parts_);
    return part({.key = key, .client = client}, number % parts_);
  }

  // Redisson's tryLock(wait, lease). Done: enough locks are held.
  task<outcome<nothing>> take_parts(request r, std::vector<vote>& held) {
    const duration whole = r.deadline - loop_.now();
    const duration share = std::max<duration>(whole / static_cast<std::int64_t>(shares_),
                                              std::chrono::milliseconds{1});
    std::size_t spare = parts_ - needed_;
    std::size_t got = 0;
    for (std::size_t i = 0; i < parts_;) {
      const duration wait = std::min(share, r.deadline - loop_.now());
      const vote v = co_await take_part(r, i, wait, watched_ ? r.lease : 2 * whole);
      held[i++] = v;
      if (v == vote::yes) {
        ++got;
      } else if (got >= needed_) {
        break;
      } else if (spare > 0) {
        --spare;
      } else if (v != vote::no) {
        co_return refusal::unavailable;
      } else {
        co_await give_back(r, held);
        spare = parts_ - needed_;
        got = i = 0;
      }
      if (loop_.now() < r.deadline) continue;
      co_return v == vote::yes || v == vote::no ? refusal::deadline : refusal::unavailable;
    }
    co_return nothing{};
  }

  // yes: taken; no: held by somebody else; unasked: not taken, and the server cannot be asked now.
  task<vote> take_part(request r, std::size_t i, duration wait, duration lease) {
    request one = r;
    one.lease = lease;
    one.deadline = loop_.now() + wait;
    one.grace = std::min(r.grace, r.answer_by() - one.deadline);
    const auto said = co_await take(part(r, i), one);
    if (said.refused(refusal::deadline)) co_return vote::no;
    if (!said.in_doubt()) co_return vote_of(said, true);
    const auto undone = co_await give_up(part(r, i), taking_back(r));
    const bool is_gone = undone.done() || undone.refused(refusal::not_owner);
    co_return is_gone ? vote::unasked : vote_of(said, true);
  }

  // Clears in `held` the locks that are given back. Past the deadline it does not wait for answers.
  task<void> give_back(request r, std::vector<vote>& held) {
    std::vector<bool> which;
    for (const vote v : held) which.push_back(may_be_taken(v));
    if (loop_.now() >= r.answer_by()) {
      for (std::size_t i = 0; i < parts_; ++i) {
        if (which[i]) abandon(part(r, i), r);
      }
      co_return;
    }
    const std::vector<vote> said = co_await ask_parts(taking_back(r), step::give_up, which);
    for (std::size_t i = 0; i < parts_; ++i) {
      const bool answered = said[i] == vote::yes || said[i] == vote::no;
      if (which[i] && answered) held[i] = vote::no;
    }
  }

  // Returns how many certainly have the real lease now. Redisson asks one after the other, and
  // ignores the answers.
  task<std::size_t> set_lease(request r, const std::vector<vote>& held) {
    std::size_t bounded = 0;
    for (std::size_t i = 0; i < parts_; ++i) {
      if (held[i] != vote::yes) continue;
      const rlock one = part(r, i);
      const auto said =
          co_await client(r, one.place)
              .evaluate(r, run_.scripts[first_own_script], 1, one.name, milliseconds(r.lease));
      if (said.done()) ++bounded;
    }
    co_return bounded;
  }

  // Asks several places at once; a single one, over its one connection, one after the other.
  task<std::vector<vote>> ask_parts(request r, step what, const std::vector<bool>& which) {
    std::vector<vote> said(parts_, vote::unasked);
    scope asking{loop_};
    for (std::size_t i = 0; i < parts_; ++i) {
      if (!which[i]) continue;
      if (places() > 1) {
        asking.spawn(ask_part(r, what, i, said[i]));
      } else {
        co_await ask_part(r, what, i, said[i]);
      }
    }
    co_await asking.join();
    co_return said;
  }

  task<void> ask_part(request r, step what, std::size_t i, vote& to) {
    if (what == step::extend) {
      const auto said = co_await extend(part(r, i), r);
      to = vote_of(said, true);
    } else {
      const auto said = co_await give_up(part(r, i), r);
      to = vote_of(said, true);
    }
  }

  const bool in_one_place_;
  const std::size_t parts_;                      // the locks that are one together
  const std::size_t needed_;                     // of them, for a grant
  const std::size_t shares_;                     // of the time, one for each of them
  const bool watched_;                           // each is taken for the lease, and renewed
  std::vector<std::vector<std::string>> names_;  // by request::key, by part
};

constexpr recipe multi_recipe{
    .make_session = make_session<multi_session>,
    .scripts = {redisson_take_lua, redisson_give_up_lua, redisson_extend_lua, set_lease_lua},
    .over = spread::all_places,
    .connections_beside = 1,
    .watchdog_batch = redisson_batch,
    .beside = names_in_one_place};
constexpr recipe red_recipe{
    .make_session = make_session<multi_session>,
    .scripts = {redisson_take_lua, redisson_give_up_lua, redisson_extend_lua, set_lease_lua},
    .over = spread::majority,
    .connections_beside = 1,
    .watchdog_batch = redisson_batch};

}  // namespace

lock_kind redisson_multi() {
  return {
      .name = "redis/redisson_multi",
      .summary = "Redisson's RMultiLock: several RLocks at once, taken in order",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant,
      .promises = safety::best_effort,
      .topologies = "redis redis-sentinel redis-cluster redis-independent",
      .algorithm = "Redisson 3.52 to 4.7, RedissonMultiLock",
      .cost = {12, 9},
      .options =
          and_also({.name = "locks",
                    .values = "1 to 9",
                    .preset = "3",
                    .help = "how many locks are one together; where the target names several "
                            "deployments, there is one in each instead",
                    .accepts = [](std::string_view v) { return number_of_locks(v) > 0; }},
                   redisson_options()),
      .make = make_driver_of<multi_recipe>,
  };
}

lock_kind redisson_red() {
  return {
      .name = "redis/redisson_red",
      .summary = "Redisson's RedissonRedLock: RLocks in a majority of masters; checks no validity",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant,
      .promises = safety::best_effort,
      .topologies = "redis-independent",
      .algorithm = "Redisson 3.52 to 4.7, RedissonRedLock (deprecated)",
      .cost = {20, 15},
      .options = {watchdog_option()},
      .make = make_driver_of<red_recipe>,
  };
}

}  // namespace lockmark::redis
