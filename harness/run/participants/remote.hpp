// One participant as lockmark sees it: its process, its data, and the end of its history.
//
// Reads its memory, never waits for it, and writes only orders and its own read positions.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "harness/check/cut_history.hpp"
#include "harness/run/participants/assignment.hpp"
#include "harness/run/participants/shared_memory.hpp"
#include "harness/run/participants/spawn.hpp"
#include "harness/run/worker_pool.hpp"

namespace lockmark::run {

class remote final : public pool_member {
 public:
  // `optimistic`: the lock is.
  remote(assignment task, bool optimistic);

  // Starts the process and sends its assignment.
  void start(const std::string& program, int common_memory);
  bool started() const { return process_ != nullptr; }
  // REQUIRES: started().
  participant_process& process() { return *process_; }
  const participant_process& process() const { return *process_; }
  void tell(order what);

  // Reads the data handed over so far.
  void fetch();
  void end(int wait_status);

  // Announces a death that the caller is about to cause, or to allow.
  void expect_death(time_point at);

  standing state() const { return block().state.load(std::memory_order_acquire); }
  // The participant's failure; null: none.
  std::exception_ptr failure() const;
  // It was ready once, whatever happened later.
  bool was_ready() const { return state() != standing::starting; }
  // It died before it was told to close: by itself, or killed.
  bool died() const { return died_; }
  bool death_was_expected() const { return expected_ns_ != 0; }
  // The end of its history. REQUIRES: died().
  std::int64_t died_ns() const { return died_ns_; }
  int wait_status() const { return wait_status_; }
  // Ended or died, and reaped.
  bool over() const { return over_; }
  // Events or intervals were lost for lack of room: later actions are unknown.
  bool overflowed() const { return overflowed_; }
  // Later actions are in none of its intervals; 0: it delivered none.
  std::int64_t measured_until_ns() const { return measured_until_ns_; }
  // Its future events cannot be earlier than this.
  std::int64_t promised_ns() const { return promised_ns_; }
  std::int64_t holding() const { return block().gauges.holding.load(std::memory_order_relaxed); }
  std::int64_t cpu_ns() const { return block().cpu_ns.load(std::memory_order_relaxed); }
  std::uint32_t number() const { return task_.number; }

  check::journal& journal() override { return journal_; }
  run::recorder& recorder() override { return recorder_; }
  const run::gauges& gauges() const override { return block().gauges; }
  traffic sent() const override { return sent_; }
  bool gone() const override { return over_ || overflowed_; }

 private:
  participant_block& block() const { return task_.own.block(memory_.data()); }
  void fetch_intervals();
  void end_history(std::int64_t at_ns);

  assignment task_;
  shared_memory memory_;
  check::event_reader events_;
  record_reader intervals_;
  std::unique_ptr<participant_process> process_;

  check::journal journal_;
  run::recorder recorder_{false};
  check::cut_history history_;
  std::vector<check::event> fresh_;
  traffic sent_;
  std::int64_t measured_until_ns_ = 0;
  std::int64_t promised_ns_ = 0;
  std::int64_t expected_ns_ = 0;
  std::int64_t died_ns_ = 0;
  int wait_status_ = 0;
  bool history_over_ = false;
  bool died_ = false;
  bool over_ = false;
  bool overflowed_ = false;
};

}  // namespace lockmark::run
