// One load thread: an event loop with many clients, driven by a closed or an open loop.
//
// A worker opens the sessions of its instances, waits for go(), keeps its clients busy until
// stop(), lets attempts in flight end, and closes the sessions at close(). It decides nothing about
// the run.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "harness/async/scope.hpp"
#include "harness/pace/schedule.hpp"
#include "harness/run/actor.hpp"

namespace lockmark::run {

// Half a second: short enough that a run of five seconds has ten points to resample.
inline constexpr duration interval_length = std::chrono::milliseconds{500};

// The worker's view of the run. Everything must outlive the worker.
struct worker_setup {
  const config::job& job;
  const config::key_sampler& keys;
  const workload& what;
  driver& behind;
  features lock_has;
  const run::window& window;
  std::string run_id;
  bool notes_answers = false;     // as in stage
  check::guard* guard = nullptr;  // of the job's guarded resource; null: none
  std::string lock{};             // its name
  // How long after its deadline a client's call counts as a defect of the driver.
  duration stuck_after = std::chrono::seconds{10};
  // Time for a server to answer each connection.
  duration login_within = std::chrono::seconds{5};
};

// Where a worker puts the data that its controller reads at any moment, if that is another process.
// Null: in the worker itself.
struct outlets {
  run::gauges* gauges = nullptr;
  check::event_writer* events = nullptr;
};

// The part of the load that a worker carries: instance i belongs to worker i mod workers.
using pace::share;

class worker {
 public:
  worker(loop& l, const worker_setup& c, share mine, outlets out = {});
  ~worker();

  // The whole life of the worker; ends when every session is closed. Throws failure().
  task<void> live();

  // Called on any thread. `hurry` cuts holds and think times short.
  void go(time_point start);
  void stop();
  void hurry();
  void close();

  bool ready() const { return ready_.load(std::memory_order_acquire); }
  // No client is running any more; the sessions stay open until close().
  bool quiet() const { return quiet_.load(std::memory_order_acquire); }
  // The first exception of a session or a client, as soon as it was thrown; null: none. It ends the
  // load of all clients of this worker, as stop() and hurry() do. On any thread.
  std::exception_ptr failure() const {
    return failed_.load(std::memory_order_acquire) ? failure_ : nullptr;
  }

  const run::gauges& gauges() const { return gauges_; }
  run::recorder& recorder() { return recorder_; }
  check::journal& journal() { return journal_; }
  // The traffic of the sessions between go() and the last client's end. REQUIRES: quiet().
  const traffic& sent() const { return sent_; }

 private:
  struct client_slot;  // a client and the open loop's calls to it
  struct due {
    time_point intended;
    lateness why;
    std::uint64_t arrival;  // over the whole load, from 0
  };

  task<void> open_sessions();
  task<void> open_session(std::size_t n);
  void make_slots();
  task<void> carry_load();
  task<void> close_sessions();
  task<void> close_session(session& s);
  task<void> keep_busy(client_slot& s);
  task<void> call_clients();
  task<void> closed_loop(client_slot& s);
  task<void> dispatch();
  task<void> serve(client_slot& s);
  task<void> make_attempts(client_slot& s, due first);
  task<void> heartbeat();
  task<void> tick();
  void assign(time_point intended, std::uint64_t arrival);
  void fail(std::exception_ptr why);
  void stop_clients();
  void hurry_clients();
  void publish(time_point now);
  void end_interval(time_point now);
  void look_for_the_stuck(time_point now);
  traffic traffic_so_far() const;

  loop& loop_;
  const worker_setup& setup_;
  const share mine_;
  run::gauges own_gauges_;
  run::gauges& gauges_;
  run::recorder recorder_;
  check::journal journal_;
  stage stage_;

  // Of this worker's n-th session.
  std::uint32_t instance_number(std::size_t n) const {
    return mine_.worker + static_cast<std::uint32_t>(n) * mine_.workers;
  }
  std::size_t lanes() const;

  std::vector<std::unique_ptr<session>> sessions_;  // null until open
  std::vector<std::unique_ptr<client_slot>> slots_;
  std::deque<client_slot*> idle_;  // open loops: clients without an attempt, longest idle first
  std::deque<due> backlog_;        // open loops: due, but no client was free

  signal go_;
  signal close_;
  time_point start_;
  bool gone_ = false;  // go() was called
  bool looked_stuck_ = false;
  bool stopping_ = false;
  bool over_ = false;  // no client is running; heartbeat and tick may end
  std::atomic<bool> ready_{false};
  std::atomic<bool> quiet_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;  // written once, before failed_
  traffic sent_before_;
  traffic sent_until_now_;
  traffic sent_;
};

}  // namespace lockmark::run
