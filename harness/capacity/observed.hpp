// Figures of a capacity report from the observations of its runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/capacity/queue_model.hpp"
#include "harness/capacity/report.hpp"
#include "harness/config/key_choice.hpp"

namespace lockmark::capacity {

inline constexpr double doubt_shown = 0.025;  // intervals of a report: 95 %

// Three decimals, as in jobs and in the report.
double rounded(double per_s);

// Of a distribution of times.
struct moments {
  double mean_s = 0;
  double second_s2 = 0;
  double mean_error_s = 0;  // standard error
};
moments moments_of(const stats::histogram& h);

// With an interval of 95 %.
figure figure_of(const moments& m, const std::string& run);
figure figure_of(const bounds& b, const std::string& run);
// Scales the bounds on attempts per second to grants.
figure granted_figure(const observation& o);

// The number of keys if demand is equal; nothing if some keys get more than others.
std::optional<double> equal_keys(const config::key_choice& keys, std::uint64_t clients);

std::vector<stretches> against(const std::vector<observation>& looks, std::size_t objective);
probe_result result_of(const std::vector<observation>& looks,
                       const std::vector<objective>& objectives, double doubt);

// The M/G/1 prediction for one key, and the first of the measured quantiles beside it. A client
// that finds the lock free still waits for the servers' reply.
std::optional<comparison> predict_beside(const service_time& of, double lone_wait_s,
                                         double key_per_s,
                                         const std::vector<stats::quantile_estimate>& measured);

// Hold and hand-off from a run in which clients had to wait.
basics basics_of(const observation& crowded, double lone_wait_s);

}  // namespace lockmark::capacity
