// One participant on another machine, as the coordinator sees it: what its agent has reported, in
// our time.
//
// take() and the rest are called under the lock of its agent_link; journal, recorder and gauges
// have their own.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "agents.pb.h"
#include "harness/agents/host_clock.hpp"
#include "harness/check/cut_history.hpp"
#include "harness/config/job.hpp"
#include "harness/run/participants/deaths.hpp"
#include "harness/run/worker_pool.hpp"

namespace lockmark::agents {

// What a run may name: everything else in a report is refused.
struct run_shape {
  std::uint32_t participants = 1;
  std::uint32_t instances = 1;
  std::uint32_t clients = 1;  // of each instance
  std::uint64_t keys = 1;
  bool optimistic = false;
  bool notes_answers = false;
};

class far_member final : public run::pool_member {
 public:
  far_member(std::uint32_t number, const run_shape& shape);

  // The next report on it. Throws std::runtime_error for one that cannot be.
  void take(const wire::ParticipantReport& report, host_clock& clock);
  // Its host is lost: nothing is known of it after the last report.
  void lose();

  std::uint32_t number() const { return number_; }
  wire::ParticipantReport::State state() const { return state_; }
  bool over() const { return lost_ || state_ == wire::ParticipantReport::OVER; }
  bool lost() const { return lost_; }
  // The end of what is known of it, in our time.
  std::int64_t known_until_ns() const { return promised_ns_; }
  std::int64_t measured_until_ns() const { return measured_until_ns_; }
  std::exception_ptr failure() const { return failure_; }
  const std::optional<run::death>& death() const { return death_; }

  check::journal& journal() override { return journal_; }
  run::recorder& recorder() override { return recorder_; }
  const run::gauges& gauges() const override { return gauges_; }
  traffic sent() const override { return sent_; }
  bool gone() const override { return gone_.load(std::memory_order_relaxed); }

 private:
  void take_events(const wire::ParticipantReport& report, host_clock& clock);
  void take_interval(const std::string& bytes, host_clock& clock);
  void take_gauges(const wire::Gauges& g, host_clock& clock);
  void check(const check::event& e) const;

  const std::uint32_t number_;
  const run_shape shape_;
  wire::ParticipantReport::State state_ = wire::ParticipantReport::STARTING;
  bool lost_ = false;
  std::atomic<bool> gone_{false};
  std::exception_ptr failure_;
  std::optional<run::death> death_;
  std::int64_t promised_ns_ = 0;
  std::int64_t measured_until_ns_ = 0;

  check::journal journal_;
  run::recorder recorder_{false};
  run::gauges gauges_;
  check::cut_history history_;
  traffic sent_;
};

}  // namespace lockmark::agents
