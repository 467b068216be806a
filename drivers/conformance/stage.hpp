// The environment of one conformance case: a run's names, its driver, its sessions, and a proxy.
//
// The helpers express a case's expectations in one line each. A case that cannot go on throws
// `broken`, which fails the test with its sentence; the case's sessions are still closed and its
// names wiped.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "drivers/conformance/conformance.hpp"
#include "drivers/conformance/network.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::conformance {

using namespace std::chrono_literals;

struct broken : std::runtime_error {
  using runtime_error::runtime_error;
};

inline constexpr std::uint32_t clients_per_session = 4;
inline constexpr std::uint32_t keys_per_run = 40;
inline constexpr duration long_lease = 60s;
inline constexpr duration patience = 15s;  // for a few round trips on a busy machine

class stage;

// One owner: a client of a session. A handle; the stage owns the session.
struct party {
  stage* on;
  session* in;
  const lock_kind* kind;
  std::uint32_t client;
  duration lease;  // of its acquires; long, unless the case is about losing it

  bool has(feature f) const { return kind->has.has(f); }

  // One call each, ending at now + `within`; an acquire may end later by `grace`.
  task<outcome<grant>> acquire(duration within, std::uint32_t key = 0, duration grace = {}) const;
  task<outcome<grant>> renew(duration within, std::uint32_t key = 0) const;
  task<outcome<nothing>> release(duration within, std::uint32_t key = 0) const;

  // Tries until it has the key; throws broken once `within` is over, or if it is in doubt.
  task<grant> take(duration within = patience, std::uint32_t key = 0) const;

  // Releases the key; throws broken if that fails.
  task<void> give_up(std::uint32_t key = 0) const;

  // Tries once, for `within` if the lock waits; throws broken unless the attempt is refused because
  // the key is held, and fails the test if the refusal is late.
  task<void> is_kept_out(std::uint32_t key = 0, duration within = 100ms) const;

  party other_client(std::uint32_t n) const { return {on, in, kind, n, lease}; }
  party with_short_lease() const;
};

class stage {
 public:
  explicit stage(const subject& s);

  // Prepares, runs the case, closes every session, wipes, and checks for leftovers.
  void play(task<void> (*the_case)(stage&));

  const subject& about() const { return about_; }
  bool has(feature f) const { return about_.kind.has.has(f); }
  loop& l() { return *loop_; }
  time_point in(duration d) const { return loop_->now() + d; }
  const names& run_names() const { return names_; }
  std::uint32_t holders() const { return most_holders(about_); }

  driver& direct() { return *direct_; }
  driver& writers() { return *writers_; }  // REQUIRES: about().has_writer()
  driver& proxied();         // another driver of the same run, with the proxies for servers
  shaky_network& network();  // all servers' proxies. REQUIRES: not in_process

  // A new driver for another URL.
  std::unique_ptr<driver> driver_for(const std::string& url) const;

  // Client 0 of a new session.
  task<party> join();
  task<party> join_through_proxy();

  // Client 0 of a new session whose holds of keys 0 and 1 exclude those of the other parties: for
  // readers, a writer. A semaphore is crowded for it, so that one place is left.
  task<party> join_rival();
  // Takes all of a key's places but one, if it has several, for the rest of the case.
  task<void> crowd(std::uint32_t key);

  task<void> leave(session* s);  // closes it; the party must make no more calls

  // With every driver of the run, as before the case.
  task<void> prepare();

  // Wipes with every driver, and fails the test if names of the run are left.
  task<void> wipe_clean();

  // The longest time that a lock may stay taken after its owner has vanished.
  duration until_freed() const;

 private:
  task<void> play_whole(task<void> (*the_case)(stage&));
  task<party> join(driver& d, const lock_kind& kind);
  std::unique_ptr<driver> make(const lock_kind& kind, const std::string& url) const;
  task<void> close_all();

  const subject about_;
  std::variant<std::monostate, real_clock, simulated_clock> clock_;
  std::optional<loop> loop_;
  names names_;
  std::unique_ptr<driver> direct_;
  std::unique_ptr<driver> writers_;
  std::unique_ptr<shaky_network> network_;
  std::unique_ptr<driver> proxied_;
  std::vector<std::unique_ptr<session>> sessions_;
  bool crowded_ = false;
  std::uint32_t joined_ = 0;
};

// Runs both to completion, even if one of them fails.
task<void> together(loop& l, task<void> one, task<void> other);

// A call's outcome, for messages: "done", "busy", "doubt: deadline".
template <class T>
std::string say(const outcome<T>& o) {
  if (o.done()) return "done";
  return std::string{o.refused() ? name_of(o.why_refused()) : name_of(o.why_in_doubt())};
}

}  // namespace lockmark::conformance
