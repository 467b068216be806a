#include "harness/capacity/observed.hpp"

#include <algorithm>
#include <cmath>

namespace lockmark::capacity {

double rounded(double per_s) {
  return std::max(0.001, std::round(per_s * 1000) / 1000);
}

moments moments_of(const stats::histogram& h) {
  moments m;
  if (h.empty()) return m;
  double sum = 0;
  h.for_each_bucket([&](std::int64_t low_ns, std::int64_t high_ns, std::int64_t count) {
    const double s = static_cast<double>(low_ns + high_ns) / 2e9;
    sum += s * static_cast<double>(count);
    m.second_s2 += s * s * static_cast<double>(count);
  });
  const auto n = static_cast<double>(h.count());
  m.mean_s = sum / n;
  m.second_s2 /= n;
  m.mean_error_s = std::sqrt(std::max(0.0, m.second_s2 - m.mean_s * m.mean_s) / n);
  return m;
}

figure figure_of(const moments& m, const std::string& run) {
  constexpr double z = 1.96;
  return {
      m.mean_s, std::max(0.0, m.mean_s - z * m.mean_error_s), m.mean_s + z * m.mean_error_s, {run}};
}

figure figure_of(const bounds& b, const std::string& run) {
  return {b.value, b.low, b.high, {run}};
}

figure granted_figure(const observation& o) {
  figure f{o.granted_per_s, o.granted_per_s, o.granted_per_s, {o.run}};
  if (o.against.empty()) return f;
  const bounds b = bound_attempts_per_s(o.against, doubt_shown);
  if (b.value <= 0) return f;
  f.low = f.value * b.low / b.value;
  f.high = f.value * b.high / b.value;
  return f;
}

std::optional<double> equal_keys(const config::key_choice& keys, std::uint64_t clients) {
  using shape = config::key_choice::shape;
  if (keys.kind == shape::zipf || keys.kind == shape::hotspot) return std::nullopt;
  return static_cast<double>(keys.count(clients));
}

std::vector<stretches> against(const std::vector<observation>& looks, std::size_t objective) {
  std::vector<stretches> all;
  for (const observation& o : looks) all.push_back(o.against[objective]);
  return all;
}

probe_result result_of(const std::vector<observation>& looks,
                       const std::vector<objective>& objectives, double doubt) {
  probe_result r;
  double granted = 0;
  for (const observation& o : looks) {
    r.dropped += o.dropped;
    granted += o.granted_share / static_cast<double>(looks.size());
  }
  r.granted_share = granted;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    r.objectives.push_back({objectives[i].allowed(), bound_share(against(looks, i), doubt)});
  }
  r.backlog = bound_growth(against(looks, 0), doubt);
  return r;
}

std::optional<comparison> predict_beside(const service_time& of, double lone_wait_s,
                                         double key_per_s,
                                         const std::vector<stats::quantile_estimate>& measured) {
  const auto predicted = predict(of, key_per_s);
  if (!predicted || measured.empty()) return std::nullopt;
  comparison c;
  c.utilisation = predicted->utilisation;
  c.predicted_mean_s = predicted->mean_s + (1 - predicted->utilisation) * lone_wait_s;
  c.quantile = measured.front().q;
  c.predicted_quantile_s = std::max(lone_wait_s, predicted->quantile_s(c.quantile));
  c.measured = measured.front();
  return c;
}

basics basics_of(const observation& crowded, double lone_wait_s) {
  basics b;
  const moments hold = moments_of(crowded.hold);
  moments handoff = moments_of(crowded.transfer);
  // If nobody ever waited, a hand-off is a release followed by an acquire.
  if (crowded.transfer.empty()) {
    handoff.mean_s = lone_wait_s + moments_of(crowded.release).mean_s;
    handoff.second_s2 = handoff.mean_s * handoff.mean_s;
  }
  b.hold = figure_of(hold, crowded.run);
  b.handoff = figure_of(handoff, crowded.run);
  b.handoff_second_moment_s2 = handoff.second_s2;
  b.service.value = hold.mean_s + handoff.mean_s;
  const double error = 1.96 * std::hypot(hold.mean_error_s, handoff.mean_error_s);
  b.service.low = std::max(0.0, b.service.value - error);
  b.service.high = b.service.value + error;
  b.service.runs = {crowded.run};
  b.second_moment_s2 = hold.second_s2 + 2 * hold.mean_s * handoff.mean_s + handoff.second_s2;
  b.crowded_per_s = granted_figure(crowded);
  return b;
}

std::optional<double> comparison::quantile_error() const {
  if (!measured.supported || measured.value.censored || measured.value.value_ns <= 0) {
    return std::nullopt;
  }
  return predicted_quantile_s * 1e9 / static_cast<double>(measured.value.value_ns) - 1;
}

}  // namespace lockmark::capacity
