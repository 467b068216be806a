// The contract of a backend: the calls of the harness, their order, and the guarantees it relies
// on.
//
//   driver      one per process, immutable, shared by all threads: the kind of lock and its server.
//   session     one instance (one simulated application process) on one thread's loop.
//
// A run calls:  prepare()  ->  open() per instance  ->  acquire / renew / release ...  ->
//               session.close() per instance  ->  wipe().
// Instances in processes of their own each have a driver that sees only open() and tidy() of these
// calls; so open() relies on the state of the servers, never on a prepare() of the same object.
//
// Rules for every driver:
//   * It neither measures, prints, retries nor reads a clock (the loop tells the time).
//   * No new request begins after a call's deadline: the grace is for answers and for undoing what
//     was taken. A call ends by answer_by() whatever the server does; no answer means in doubt.
//   * Everything that can happen to a lock is an outcome. An exception (usage_error, no_server)
//     ends the run with its sentence, and never carries a password.
//   * On the server it touches only names under names::run, and `wipe` removes all of them.
//   * One client has at most one call in flight; several clients of a session overlap freely.
//   * A session with a broken connection reconnects by itself at a client's next call.
//
// drivers/memory is the reference: copy it to start a new backend.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/async/loop.hpp"
#include "harness/base/errors.hpp"
#include "harness/features.hpp"
#include "harness/outcome.hpp"

namespace lockmark {

// No usable server: unreachable, silent, or refused the login. Exit status 2.
struct no_server : std::runtime_error {
  using runtime_error::runtime_error;
};

// The server was reached, and did not answer whether it created what a run needs; it still may.
struct unanswered_change : no_server {
  using no_server::no_server;
};

// How long a server that has answered may take for creating what a run needs: a table has to be
// synced to the disk, on every node of a cluster.
inline constexpr duration creating_within = std::chrono::seconds{20};

// The names of one run's keys. The driver turns them into its own: "lockmark:<run>:<key>" in Redis,
// "/lockmark/<run>/<key>" in ZooKeeper, rows of tables "lockmark_<run>_..." in MySQL.
struct names {
  std::string run;                // [a-z0-9]+, unique among runs
  std::vector<std::string> keys;  // request::key is an index into this
};

// The client, the key and the deadline of one call. `client` counts within the instance, from 0;
// owner = (instance id, client). The harness chooses both, so a lock left in doubt can still be
// released or waited out.
struct request {
  std::uint32_t key = 0;
  std::uint32_t client = 0;
  duration lease{};       // only for locks with a lease; > 0
  time_point deadline{};  // of waiting for the lock: no new request after it
  // Extra time for the answer to a request sent before the deadline. Cutting off an acquire in
  // flight could leave behind a lock that nobody knows of.
  duration grace{};
  // A reader of the key, beside whom other readers may hold it; only for locks with readers.
  bool shared = false;

  // The call ends by this time whatever the server does.
  time_point answer_by() const { return deadline + grace; }
};

struct grant {
  std::uint64_t token = 0;                     // fencing token; optimistic: the version read
  time_point valid_until = time_point::max();  // by the client's clock; max: no lease
  // Time that this call spent between the harness and a lock client in a process of its own
  // (drivers/exec). Subtracted from the latencies, and reported.
  duration pipe{};
  // There is such a client, and it does not say how much of the time was its own.
  bool pipe_unknown = false;
};

// What a session has sent and received; counters only grow.
struct traffic {
  std::uint64_t commands = 0;     // requests sent, regardless of their number of keys
  std::uint64_t round_trips = 0;  // times that a client waited for an answer
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t wakeups = 0;  // waiters woken by the server (message, watch event)
  std::uint64_t reconnects = 0;
  std::uint64_t pipe_ns = 0;  // between the harness and lock clients in processes of their own
  // Renewals that a session makes by itself: times that a lease could have ended before its
  // renewal.
  std::uint64_t late_renewals = 0;

  traffic& operator+=(const traffic& t) {
    commands += t.commands;
    round_trips += t.round_trips;
    bytes_out += t.bytes_out;
    bytes_in += t.bytes_in;
    wakeups += t.wakeups;
    reconnects += t.reconnects;
    pipe_ns += t.pipe_ns;
    late_renewals += t.late_renewals;
    return *this;
  }
  traffic& operator-=(const traffic& t) {
    commands -= t.commands;
    round_trips -= t.round_trips;
    bytes_out -= t.bytes_out;
    bytes_in -= t.bytes_in;
    wakeups -= t.wakeups;
    reconnects -= t.reconnects;
    pipe_ns -= t.pipe_ns;
    late_renewals -= t.late_renewals;
    return *this;
  }
};

class session {
 public:
  virtual ~session() = default;

  // Takes the key, or refuses. With server_wait it waits until the deadline; otherwise it tries
  // once and refuses as busy. Optimistic: reads, and never refuses as busy.
  virtual task<outcome<grant>> acquire(request r) = 0;

  // Extends the lease of a key held by the owner to r.lease from now. REQUIRES: renewable.
  virtual task<outcome<grant>> renew(request r) = 0;

  // Gives the key up. not_owner: the owner did not hold it (any longer). Reentrant locks: one
  // level. Optimistic: commits what the last acquire read; conflict: another client committed
  // first.
  virtual task<outcome<nothing>> release(request r) = 0;

  // False once the server may have freed what this session holds (expired session, lost connection
  // of a session-bound lock). A later acquire may revive it.
  virtual bool alive() const = 0;

  // Ends every connection; holds of session-bound locks end with it. Called once, last.
  virtual task<void> close() = 0;

  virtual traffic sent() const = 0;
};

// Connections opened at a time, over the whole run: below the smallest accept queue of the servers
// (MySQL and ZooKeeper: 50; Redis: 511), and enough to reach a server with two thousand clients in
// some forty round trips.
inline constexpr std::uint32_t logins_in_all = 48;

// One simulated application process.
struct instance {
  std::string id;              // unique, like the UUID of a real client
  std::uint32_t number = 0;    // of the instance within the run, from 0
  std::uint32_t clients = 1;   // request::client is below this
  duration session_timeout{};  // ZooKeeper's
  // How open() connects: this many connections at a time, each within `login_within`, all by the
  // deadline. Calls on_login for each client that is connected (optional: drivers may never call
  // it).
  std::uint32_t logins = logins_in_all;
  duration login_within = std::chrono::hours{1};
  std::function<void()> on_login{};
};

// The load that a run will put on the servers.
struct demand {
  std::uint32_t instances = 1;
  std::uint32_t clients = 1;  // of each instance
  duration lease{};
  duration session_timeout{};  // ZooKeeper's

  std::uint64_t clients_in_all() const { return std::uint64_t{instances} * clients; }
};

// A problem that would spoil a run, found before it: one sentence with the problem and its remedy.
struct finding {
  bool fatal = false;  // false: the run can go on, and the sentence is reported with its result
  std::string sentence;
};

// The server's description of itself, for the run's provenance: ("server.version", "7.0.15"). A
// column of tables shows "server.durability", in a few words: which changes survive when the server
// is killed and its machine loses power, as its settings have it. What recovery depends on where
// sessions expire is told as durations: "server.session_tick", "server.session_timeout_min",
// "server.session_timeout_max", "server.silence" (faults/theory.hpp); left out if it is not known.
using description = std::vector<std::pair<std::string, std::string>>;

// Server-side counters, totals since the server started: ("commands", 1234), ("cmd.evalsha", 12).
using server_counters = std::map<std::string, std::uint64_t>;

class driver {
 public:
  virtual ~driver() = default;

  // First contact with the server: checks access and creates what the lock needs before the first
  // acquire. Ends by the deadline if the server is silent; a server that has answered has
  // creating_within more for what it is to create. Throws no_server, unanswered_change or
  // usage_error.
  virtual task<description> prepare(loop& l, time_point deadline) = 0;

  // Looks for problems that would spoil a run with this load. Called between prepare() and the
  // first open(). Throws no_server.
  virtual task<std::vector<finding>> preflight(loop&, demand, time_point) {
    co_return std::vector<finding>{};
  }

  // Removes everything that the run may have left on the server, including locks in doubt.
  virtual task<void> wipe(loop& l, time_point deadline) = 0;

  // For a run in several processes: removes what only this process knows of, after its last
  // session. The driver of another process does the rest. Throws no_server.
  virtual task<void> tidy(loop&, time_point) { co_return; }

  // Several sessions may be opened at once. Throws no_server and usage_error.
  virtual task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) = 0;

  // Server connections of all sessions of this load together. 0: unknown.
  virtual std::uint64_t connections(const demand&) const { return 0; }

  // How many connections (or the backend's equivalent) may be opened at a time.
  virtual std::uint32_t logins_at_once() const { return logins_in_all; }

  virtual task<server_counters> counters(loop& l, time_point deadline) = 0;

  // The server's count of commits of each key, by request::key, for the lost-update check. Only
  // called for locks with feature::optimistic. Throws no_server.
  virtual task<std::vector<std::uint64_t>> commits(loop&, time_point) {
    throw std::logic_error("commits() was called on a lock that is not optimistic");
    co_return std::vector<std::uint64_t>{};
  }
};

// The kind of safety that a lock offers, in the words of the table.
enum class safety : std::uint8_t { none, best_effort, lease_and_token, session, transaction };

constexpr std::string_view name_of(safety s) {
  switch (s) {
    case safety::none: return "none";
    case safety::best_effort: return "best-effort";
    case safety::lease_and_token: return "lease+token";
    case safety::session: return "session";
    case safety::transaction: return "transaction";
  }
  return "?";
}

// An option of one lock, given in a job under `options:`.
struct lock_option {
  std::string_view name;
  std::string_view values;  // the allowed values, for people: "true, false"
  std::string_view preset;  // the default
  std::string_view help;
  bool (*accepts)(std::string_view value);
};

// Values of a lock's options, by name.
using option_values = std::map<std::string, std::string, std::less<>>;

struct driver_setup {
  std::string target;  // the URL as given, with its password: never print it
  names run_names;
  option_values options;  // every option of the lock, checked
};

// What an acquire and its release cost where nobody competes, once connected.
struct lock_cost {
  unsigned commands = 0;     // requests sent; 0: not known
  unsigned round_trips = 0;  // waits for answers
};

// One row of `lockmark list`.
struct lock_kind {
  std::string_view name;  // BACKEND/LOCK
  std::string_view summary;
  features has;
  safety promises;
  // The topologies it runs on, as deploy/local names them; separated by blanks.
  std::string_view topologies;
  std::string_view algorithm;  // where it comes from: the client whose protocol it speaks
  lock_cost cost{};            // on the first of its topologies; measured by a test
  std::vector<lock_option> options;
  std::function<std::unique_ptr<driver>(const driver_setup&)> make;
  // How many owners may hold a key at once; 0: any number (readers). Null: one.
  std::uint32_t (*holders)(const option_values&) = nullptr;
  // The lock that readers of the same keys take, while this one excludes them; empty: none.
  std::string_view readers{};
};

}  // namespace lockmark
