// One agent as its coordinator knows it, whichever connection it is on: its clock, its members of
// the run, what it has to be told.
//
// The run controller's thread gives it orders and reads its members; the threads of its calls bring
// reports and take messages. One mutex for all.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agents.pb.h"
#include "harness/agents/far_member.hpp"
#include "harness/agents/host_clock.hpp"
#include "harness/stats/histogram.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::agents {

// What holds from now on, in our time; 0: not known yet.
struct orders {
  std::int64_t go_ns = 0;
  std::int64_t window_start_ns = 0;
  std::int64_t window_end_ns = 0;
  bool stop = false;
  bool hurry = false;
  bool close = false;
  bool kill = false;
};

// What is known of the agent's host.
struct host_facts {
  std::string name;
  std::string host;
  double cores = 0;
};

// How an agent's clock was, in a run.
struct clock_record {
  std::int64_t offset_ns = 0;  // theirs - ours, at last
  std::uint64_t exchanges = 0;
  std::uint64_t breaks = 0;
  stats::histogram error;  // after each exchange
};

class agent_link {
 public:
  agent_link(const real_clock& clock, host_facts facts, std::string session);

  // The controller's side.
  const host_facts& facts() const { return facts_; }
  bool knows_clock() const;
  // Makes the members that the assignment names. They live until the next one. The agent hears of
  // it by begin().
  std::vector<far_member*> assign(wire::Assignment a, const run_shape& shape);
  void begin();
  void order(const orders& o);
  void dismiss();
  // The agent may go on reporting: what has come so far was read.
  void have_read();
  // Looks whether the agent is still there; gives it up if not. A sentence, once for each change.
  std::optional<std::string> look(time_point now);
  bool lost() const;
  bool run_is_over() const;
  std::string trouble() const;
  std::int64_t cpu_ns() const;
  std::int64_t late_ns() const;
  clock_record record() const;
  // By how much stamps of its host that were brought to `at_ns` may be wrong.
  std::int64_t error_ns(std::int64_t at_ns) const;
  // A stamp of its host in our time.
  std::int64_t to_ours(std::int64_t theirs_ns);
  // Gives it up, if it is still there.
  void give_up(const std::string& why);
  // Calls f with the members, while nothing changes.
  template <class F>
  auto with_members(F f) const {
    const std::lock_guard guard(mutex_);
    return f(members_);
  }
  // When it was last heard of, and for how long it was silent at most since the assignment.
  time_point heard_at() const;
  duration longest_silence() const;

  // The side of its calls.
  const std::string& session() const { return session_; }
  // A new connection, which ends the one before it. Its number, from 1.
  std::uint64_t connect(std::uint32_t has_run);
  void disconnect(std::uint64_t connection);
  // What to tell the agent next: waits a moment for it. Empty: nothing new, but the connection is
  // to show that it lives. Nothing: the connection has ended.
  std::optional<wire::ToAgent> next(std::uint64_t connection);
  // False: of a connection that has ended. Throws std::runtime_error for what cannot be.
  bool take(std::uint64_t connection, const wire::FromAgent& message);
  void learn(const exchange& e);
  std::uint64_t received() const;

 private:
  void take_report(std::uint64_t number, const std::string& bytes);
  wire::Orders orders_for_agent() const;
  void lose(std::string why);

  const real_clock& clock_;
  const host_facts facts_;
  const std::string session_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  host_clock host_clock_;
  stats::histogram clock_errors_;

  std::uint64_t connections_ = 0;  // the latest one
  bool connected_ = false;
  time_point heard_at_{};
  time_point broken_at_{};
  duration longest_silence_{};
  bool silent_ = false;  // and told so
  bool lost_ = false;
  bool dismissed_ = false;

  wire::Assignment assignment_;
  std::uint32_t begun_ = 0;  // the run that the agent may hear of
  orders orders_;
  std::uint64_t orders_version_ = 0;
  // Of the latest connection: what it was told.
  struct {
    std::uint32_t run = 0;
    std::uint64_t orders_version = 0;
    std::uint64_t received = 0;
    bool dismissed = false;
  } told_;

  std::vector<std::unique_ptr<far_member>> members_;
  std::uint64_t received_ = 0;  // the number of the last report
  std::size_t unread_ = 0;      // events that came since have_read()
  bool run_over_ = false;
  std::string trouble_;
  std::int64_t cpu_ns_ = 0;
  std::int64_t late_ns_ = 0;
};

}  // namespace lockmark::agents
