// Takes the pairs of a session of the gate: starts servers, runs both sides in turn, and reads the
// stored runs.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/gate/outcome.hpp"
#include "harness/gate/threshold.hpp"
#include "program/gate_run.hpp"
#include "program/gate_side.hpp"

namespace lockmark::cli {

struct gate_plan {
  std::string job;
  gate_side baseline;
  gate_side candidate;
  std::vector<std::string> agents;          // arguments by which each run gathers its own
  std::vector<std::string> against;         // stored runs instead of the baseline
  std::vector<gate::metric> metrics;        // empty: all that the runs have
  std::vector<std::string> left_out;        // of those
  std::map<std::string, double> tolerated;  // by metric
  std::vector<gate::threshold> limits;
  std::uint64_t seed = 0;  // of the order of the sides, and of the load
  std::filesystem::path out;
  bool quiet = false;
};

class gate_bench {
 public:
  // Reads the jobs and stored runs, and starts servers. Throws usage_error, config_error,
  // local::start_error.
  explicit gate_bench(gate_plan plan);

  // Throws run_failure and usage_error.
  gate::outcome measure();

 private:
  struct used_side {
    gate_side what;
    named_job job;
    resolved_target* where = nullptr;
  };

  used_side settle(const gate_side& side);
  void read_stored();
  void check_stored() const;
  std::vector<gate::metric> candidates_for_comparison() const;
  void begin_session(const report::recorded_run& baseline, const report::recorded_run& candidate);
  void take_pair();
  void take_run();
  bool is_to_repeat(const gate::session& next);
  std::string place_text(std::size_t pair) const;
  report::recorded_run run(const used_side& side);
  std::string flaw_of(const report::recorded_run& run, const used_side& side) const;
  std::optional<report::recorded_run> valid_run(const used_side& side);
  void judge_limits(const report::recorded_run& candidate);
  void tell(const std::vector<double>& baseline, const std::vector<double>& candidate) const;
  gate::outcome conclude(double took_s) const;

  gate_plan plan_;
  std::map<std::string, resolved_target> targets_;  // keyed by the user's spelling
  used_side baseline_;
  used_side candidate_;
  std::vector<report::recorded_run> stored_;
  bool elsewhere_ = false;  // the stored runs are from another machine
  std::string order_;
  std::size_t repeated_ = 0;  // pairs, for a bound
  std::optional<gate::session> session_;
  std::vector<gate::metric> metrics_;
  std::optional<std::string> spoiled_;
  std::vector<std::size_t> limits_broken_;  // the candidate's runs that break each limit
  std::vector<std::string> limits_said_;
  gate::outcome outcome_;
};

}  // namespace lockmark::cli
