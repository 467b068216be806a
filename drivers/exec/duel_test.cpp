// The rounds of a duel. Its cases are added by interop_test.cpp.
#include "drivers/exec/duel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "drivers/conformance/network.hpp"
#include "harness/async/scope.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::exec {
namespace {

using namespace std::chrono_literals;

// For a woken waiter. One that is not woken waits for the end of the lease, 19 s more. A server
// that syncs its log has been seen to say nothing for 5 s, on a busy machine's disk.
constexpr duration prompt = 15s;
constexpr duration short_lease = 2s;  // for the rounds that let one expire
// A session outlives a server or a process that stands still for seconds; one to be cut does not.
constexpr duration session_timeout = 20s;
constexpr duration mortal_timeout = 4s;

struct went_wrong : std::runtime_error {
  using runtime_error::runtime_error;
};

template <class T>
std::string say(const outcome<T>& o) {
  if (o.done()) return "done";
  return std::string{o.refused() ? name_of(o.why_refused()) : name_of(o.why_in_doubt())};
}

// One side, with its own driver and the sessions it opened.
class fighter {
 public:
  fighter(loop& l, const side& s, std::string run, std::string called)
      : name(std::move(called)), loop_(l), side_(s), names_{run + s.run_suffix, {}} {
    for (int n = 0; n < 12; ++n) names_.keys.push_back(fmt::format("k{}", n));
    direct_ = driver_for(s.target);
  }

  task<void> begin() {
    co_await direct_->prepare(loop_, loop_.now() + patience);
    co_await join(*direct_, session_timeout);
  }

  // Opens a session whose connection can be cut.
  task<session*> join_mortal() {
    const std::vector<std::string> no_others;
    network_ = std::make_unique<conformance::shaky_network>(side_.target, no_others);
    through_proxy_ = driver_for(network_->url().to_string());
    co_return co_await join(*through_proxy_, mortal_timeout);
  }

  void cut() { network_->set(conformance::proxy_mode::cut); }

  task<void> end() {
    co_await close_all(sessions_);
    co_await direct_->wipe(loop_, loop_.now() + patience);
  }

  bool waits() const { return side_.kind.has.has(feature::server_wait); }
  bool has(feature f) const { return side_.kind.has.has(f); }
  session& first() { return *sessions_.front(); }

  // Takes the key, waiting or retrying; throws went_wrong if it has not succeeded after `within`.
  task<grant> take(session* in, std::uint32_t key, duration within, duration lease) {
    const time_point end = loop_.now() + within;
    while (true) {
      const request r{.key = key, .lease = lease, .deadline = end, .grace = patience};
      const auto got = co_await in->acquire(r);
      if (got.done()) co_return got.value();
      if (!got.refused(refusal::busy) || loop_.now() >= end) {
        throw went_wrong(fmt::format("{} should have got the key: {}", name, say(got)));
      }
      co_await loop_.sleep_for(20ms);
    }
  }
  task<grant> take(std::uint32_t key) { return take(&first(), key, patience, long_lease); }

  task<void> give_up(std::uint32_t key) {
    const request r{.key = key, .lease = long_lease, .deadline = loop_.now() + patience};
    const auto gone = co_await first().release(r);
    if (!gone.done()) throw went_wrong(fmt::format("{}'s release ended as: {}", name, say(gone)));
  }

  // While the other holds, until `held_until` at least: a slow answer may be a grant after that.
  task<void> is_kept_out(std::uint32_t key, time_point held_until = time_point::max()) {
    const request r{
        .key = key, .lease = long_lease, .deadline = loop_.now() + 400ms, .grace = patience};
    const auto got = co_await first().acquire(r);
    if (got.done() && loop_.now() >= held_until) co_return co_await give_up(key);
    if (!got.refused()) {
      throw went_wrong(fmt::format("{} should have been kept out: {}", name, say(got)));
    }
  }

  const std::string name;

 private:
  std::unique_ptr<driver> driver_for(const std::string& url) const {
    return side_.kind.make({url, names_, options_of(side_)});
  }

  task<session*> join(driver& d, duration timeout) {
    instance who{.id = fmt::format("{}{}{}", names_.run, name, sessions_.size()),
                 .session_timeout = timeout};
    auto opened = co_await d.open(loop_, std::move(who), loop_.now() + patience);
    sessions_.push_back(std::move(opened));
    co_return sessions_.back().get();
  }

  loop& loop_;
  const side& side_;
  names names_;
  std::unique_ptr<driver> direct_;
  std::unique_ptr<conformance::shaky_network> network_;
  std::unique_ptr<driver> through_proxy_;
  std::vector<std::unique_ptr<session>> sessions_;
};

struct arena {
  loop& l;
  fighter& real;
  fighter& ours;
};

// `one` holds, the other is kept out, and gets the key after the release.
task<void> holds(fighter& one, fighter& other, std::uint32_t key) {
  co_await one.take(key);
  co_await other.is_kept_out(key);
  co_await one.give_up(key);
  co_await other.take(key);
  co_await other.give_up(key);
}

task<void> wait_and_stamp(loop& l, fighter& who, std::uint32_t key, time_point& at,
                          std::string& failure) {
  try {
    co_await who.take(&who.first(), key, 1s + 2 * prompt, long_lease);
    at = l.now();
    co_await who.give_up(key);
  } catch (const went_wrong& e) {
    failure = e.what();
  }
}

// `one` waits while the other holds, and is woken by the other's release.
task<void> takes_over(loop& l, fighter& one, fighter& other, std::uint32_t key) {
  time_point taken_at{};
  std::string failure;
  co_await other.take(key);
  scope waiting{l};
  waiting.spawn(wait_and_stamp(l, one, key, taken_at, failure));
  co_await l.sleep_for(1s);
  const time_point given_up_at = l.now();
  std::exception_ptr not_given_up;
  try {
    co_await other.give_up(key);
  } catch (...) {
    not_given_up = std::current_exception();
  }
  co_await waiting.join();  // in any case: it writes to what is here
  if (not_given_up) std::rethrow_exception(not_given_up);
  if (!failure.empty()) throw went_wrong(failure);
  if (taken_at < given_up_at) throw went_wrong(one.name + " got it while the other held it");
  if (taken_at - given_up_at > prompt) {
    throw went_wrong(one.name + " was not woken by the other's release");
  }
}

// The other never releases, and loses the key when its lease expires.
task<void> sees_lease_end(loop& l, fighter& one, fighter& other, std::uint32_t key) {
  // No lease begins before it is asked for, however late the answer. Some servers round times.
  const time_point held_until = l.now() + short_lease - 500ms;
  co_await other.take(&other.first(), key, patience, short_lease);
  co_await one.is_kept_out(key, held_until);
  co_await one.take(key);
  if (l.now() < held_until) {
    throw went_wrong(one.name + " got it within the other's lease");
  }
  co_await one.give_up(key);
}

// The other's connection is cut, and it loses the key when its session ends.
task<void> sees_session_end(loop& l, fighter& one, fighter& other, std::uint32_t key) {
  session* const mortal = co_await other.join_mortal();
  co_await other.take(mortal, key, patience, long_lease);
  other.cut();
  const time_point held_until = l.now() + mortal_timeout / 2;
  co_await one.is_kept_out(key, held_until);
  co_await one.take(&one.first(), key, patience, long_lease);
  if (l.now() < held_until) {
    throw went_wrong(one.name + " got it within the other's session");
  }
  co_await one.give_up(key);
}

// A lock of a connection: the other's is cut, and the key is free at once.
task<void> sees_connection_end(fighter& one, fighter& other, std::uint32_t key) {
  session* const mortal = co_await other.join_mortal();
  co_await other.take(mortal, key, patience, long_lease);
  co_await one.is_kept_out(key);
  other.cut();
  co_await one.take(&one.first(), key, patience, long_lease);
  co_await one.give_up(key);
}

task<void> real_holds(arena a) {
  co_await holds(a.real, a.ours, 0);
}
task<void> ours_holds(arena a) {
  co_await holds(a.ours, a.real, 1);
}
task<void> real_takes_over(arena a) {
  co_await takes_over(a.l, a.real, a.ours, 2);
}
task<void> ours_takes_over(arena a) {
  co_await takes_over(a.l, a.ours, a.real, 3);
}
task<void> real_sees_lease_end(arena a) {
  co_await sees_lease_end(a.l, a.real, a.ours, 4);
}
task<void> ours_sees_lease_end(arena a) {
  co_await sees_lease_end(a.l, a.ours, a.real, 5);
}
task<void> real_sees_session_end(arena a) {
  co_await sees_session_end(a.l, a.real, a.ours, 6);
}
task<void> ours_sees_session_end(arena a) {
  co_await sees_session_end(a.l, a.ours, a.real, 7);
}
task<void> real_sees_connection_end(arena a) {
  co_await sees_connection_end(a.real, a.ours, 6);
}
task<void> ours_sees_connection_end(arena a) {
  co_await sees_connection_end(a.ours, a.real, 7);
}

// One counter for both: each grant's token is above the previous one, whichever side it came from.
task<void> tokens_grow(arena a) {
  std::uint64_t last = 0;
  for (int n = 0; n < 6; ++n) {
    fighter& who = n % 2 == 0 ? a.real : a.ours;
    const grant got = co_await who.take(8);
    if (got.token <= last) {
      throw went_wrong(fmt::format("{} got token {} after {}", who.name, got.token, last));
    }
    last = got.token;
    co_await who.give_up(8);
  }
}

task<void> both_hold(arena a) {
  co_await a.real.take(9);
  co_await a.ours.take(9);
  co_await a.real.give_up(9);
  co_await a.real.take(9);
  co_await a.ours.give_up(9);
  co_await a.real.give_up(9);
}

// The holder has downgraded to a reader: `reader` comes in, and keeps it out when it comes again.
task<void> joins(fighter& reader, fighter& holder, std::uint32_t key) {
  co_await holder.take(key);
  co_await reader.take(key);
  co_await holder.give_up(key);
  co_await holder.is_kept_out(key);
  co_await reader.give_up(key);
  co_await holder.take(key);
  co_await holder.give_up(key);
}

task<void> real_joins(arena a) {
  co_await joins(a.real, a.ours, 10);
}
task<void> ours_joins(arena a) {
  co_await joins(a.ours, a.real, 11);
}

struct round {
  const char* name;
  bool (*applies)(const duel&);
  task<void> (*play)(arena);
};

template <relation which>
bool is(const duel& d) {
  return d.are == which;
}
constexpr auto excludes = is<relation::exclusive>;
bool keeps_real_out(const duel& d) {
  return excludes(d) || is<relation::ours_join>(d);
}
bool keeps_ours_out(const duel& d) {
  return excludes(d) || is<relation::real_join>(d);
}
bool leased(const duel& d) {
  return excludes(d) && d.ours.kind.has.has(feature::lease);
}
// PostgreSQL's session is the connection; others go on without one for their time-out.
bool keeps_out_in_connection(const duel& d) {
  return excludes(d) && d.ours.kind.has.has(feature::session_bound) &&
         d.ours.kind.name.starts_with("postgres/");
}
bool outlasts_connection(const duel& d) {
  return d.ours.kind.has.has(feature::session_bound) && !keeps_out_in_connection(d);
}
bool keeps_real_out_in_session(const duel& d) {
  return keeps_real_out(d) && outlasts_connection(d);
}
bool keeps_ours_out_in_session(const duel& d) {
  return keeps_ours_out(d) && outlasts_connection(d);
}
// The real client's row cannot declare it, because its option `kind` decides.
bool fenced(const duel& d) {
  const auto kind = d.real.options.find("kind");
  return excludes(d) && kind != d.real.options.end() && kind->second == "fenced";
}

constexpr round all_rounds[] = {
    {"real_holds", keeps_ours_out, real_holds},
    {"ours_holds", keeps_real_out, ours_holds},
    {"real_takes_over", keeps_real_out, real_takes_over},
    {"ours_takes_over", keeps_ours_out, ours_takes_over},
    {"real_sees_lease_end", leased, real_sees_lease_end},
    {"ours_sees_lease_end", leased, ours_sees_lease_end},
    {"real_sees_session_end", keeps_real_out_in_session, real_sees_session_end},
    {"ours_sees_session_end", keeps_ours_out_in_session, ours_sees_session_end},
    {"real_sees_connection_end", keeps_out_in_connection, real_sees_connection_end},
    {"ours_sees_connection_end", keeps_out_in_connection, ours_sees_connection_end},
    {"tokens_grow", fenced, tokens_grow},
    {"both_hold", is<relation::shared>, both_hold},
    {"real_joins", is<relation::real_join>, real_joins},
    {"ours_joins", is<relation::ours_join>, ours_joins},
};

using round_names = std::vector<std::string>;

bool is_wanted(const round& r, const duel& d, const round_names& only) {
  if (!only.empty() && std::ranges::find(only, r.name) == only.end()) return false;
  return r.applies(d);
}

task<void> fight_in(loop& l, const duel& d, const round_names& only,
                    std::vector<finding_of_duel>& found) {
  const std::string run = name_of_run();
  fighter real{l, d.real, run, "real"};
  fighter ours{l, d.ours, run, "ours"};
  std::exception_ptr failure;
  try {
    co_await ours.begin();
    co_await real.begin();
    for (const round& r : all_rounds) {
      if (!is_wanted(r, d, only)) continue;
      found.push_back({r.name, ""});
      try {
        co_await r.play(arena{l, real, ours});
      } catch (const went_wrong& e) {
        found.back().failure = e.what();
      }
    }
  } catch (...) {
    failure = std::current_exception();
  }
  const std::array both{&real, &ours};
  for (fighter* const who : both) {
    try {
      co_await who->end();
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::vector<finding_of_duel> fight(const duel& d, const round_names& only) {
  const real_clock clock;
  loop l{clock};
  std::vector<finding_of_duel> found;
  run_to_end(l, fight_in(l, d, only, found));
  return found;
}

std::vector<std::string> rounds_of(const duel& d) {
  std::vector<std::string> names;
  for (const round& r : all_rounds) {
    if (r.applies(d)) names.emplace_back(r.name);
  }
  return names;
}

}  // namespace lockmark::exec
