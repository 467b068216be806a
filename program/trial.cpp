#include "program/trial.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "deploy/inject/local_injector.hpp"
#include "harness/config/quantity.hpp"
#include "program/execute.hpp"
#include "program/jobs.hpp"
#include "program/progress.hpp"

namespace lockmark::cli {

std::string seed_of(std::uint64_t repetition) {
  return fmt::format("seed={}", repetition + 1);
}

std::vector<std::string> phase_of(const std::string& job, std::uint64_t repetition) {
  constexpr double golden = 0.6180339887498949;
  const double turn = golden * static_cast<double>(repetition);
  const auto later = std::chrono::milliseconds{std::lround(500 * (turn - std::floor(turn)))};
  std::vector<std::string> set;
  for (const auto& [key, value] : find_job(job, {}).job.faults) {
    if (!key.ends_with(".at")) continue;
    const duration at = *config::parse_duration(value);
    set.push_back(fmt::format("faults.{}={}", key, config::print_duration(at + later)));
  }
  return set;
}

report::recorded_run run_trial(const context& c, const trial& t, const std::filesystem::path& out,
                               bool quiet) {
  const named_job job = find_job(t.job, t.set);
  resolved_target where =
      resolve_target(fmt::format("local:{}", t.topology), inject::needs_of(job.job));
  if (!t.query.empty()) where.url += fmt::format("?{}", t.query);
  progress_display display(t.title, quiet);
  const std::string scenario = job.name.substr(job.name.rfind('/') + 1);
  run_request e{job.job, scenario, out, c.arguments, {}, {}};
  e.on_progress = [&display](const run::progress& p) { display.show(p); };
  return execute(c.known, where, std::move(e)).written;
}

}  // namespace lockmark::cli
