#include "harness/capacity/edge_estimate.hpp"

#include <algorithm>
#include <cmath>

namespace lockmark::capacity {
namespace {

constexpr double beyond = 1.5;  // the edge is sought up to this factor from the probes
constexpr int edges = 240;
constexpr double least_slope = 2;  // one late attempt becomes two from rate 1 to rate 1.4
constexpr double most_slope = 60;
constexpr int slopes = 16;
// The line's error, as a fraction of the distance (log odds) from the allowed share.
constexpr double error_of_the_line = 0.2;
constexpr double far = 10;
constexpr double most_odds = 20;  // logarithm: the highest certainty

double log_odds(double share) {
  return std::log(share / (1 - share));
}

// An overloaded server is late with everything. From ten times the odds on, only the fact that it
// was more counts; how much more would bend the line.
double far_above(double allowed) {
  const double odds = far * allowed / (1 - allowed);
  return odds / (1 + odds);
}

// log(p) and log(1 - p) of the share p that has these log odds.
struct log_shares {
  double late, in_time;
};
log_shares shares_at(double odds_log) {
  const double z = std::clamp(odds_log, -most_odds, most_odds);
  const double late = -std::log1p(std::exp(-z));
  return {late, late - z};
}

// The number of `worth` independent attempts that remains, given the line's error at their share.
double counted(double worth, double share, double allowed) {
  const double smoothed =
      (worth * share + 0.5) / (worth + 1);  // so that none or all late has finite odds
  const double off = error_of_the_line * (log_odds(smoothed) - log_odds(allowed));
  const double information = worth * smoothed * (1 - smoothed);
  return worth / (1 + information * off * off);
}

}  // namespace

void edge_estimate::add(double rate_per_s, const share_bounds& late) {
  seen_.push_back({rate_per_s, late});
  find_posterior();
}

// Late attempts come in crowds, so an attempt is worth less than an independent one. A single probe
// with few late ones hardly shows this, so all probes near the edge estimate it together.
double edge_estimate::worth_of_an_attempt() const {
  double independent = 1, crowded = 1;  // variance of the number of late attempts
  for (const seen& s : seen_) {
    if (s.late.share > far_above(allowed_) || s.late.worth <= 0) continue;
    const auto n = static_cast<double>(s.late.attempts);
    const double variance = n * s.late.share * (1 - s.late.share);
    independent += variance;
    crowded += variance * n / s.late.worth;
  }
  return independent / crowded;
}

void edge_estimate::find_posterior() {
  const auto [lowest, highest] = std::ranges::minmax(seen_, {}, &seen::rate_per_s);
  const double from = std::log(lowest.rate_per_s / beyond);
  const double to = std::log(highest.rate_per_s * beyond);
  const double each = worth_of_an_attempt();
  posterior_.clear();
  for (int i = 0; i < edges; ++i) {
    const double log_edge = from + (to - from) * (i + 0.5) / edges;
    for (int k = 0; k < slopes; ++k) {
      const double slope = least_slope * std::pow(most_slope / least_slope, (k + 0.5) / slopes);
      posterior_.push_back({log_edge, slope, log_likelihood(log_edge, slope, each)});
    }
  }
  const double best = std::ranges::max(posterior_, {}, &belief::probability).probability;
  double sum = 0;
  for (belief& b : posterior_) sum += b.probability = std::exp(b.probability - best);
  for (belief& b : posterior_) b.probability /= sum;
}

double edge_estimate::log_likelihood(double log_edge, double slope, double worth_of_each) const {
  const double most = far_above(allowed_);
  double sum = 0;
  for (const seen& s : seen_) {
    const double share = std::min(s.late.share, most);
    const double n = counted(worth_of_each * static_cast<double>(s.late.attempts), share, allowed_);
    const double on_the_line = log_odds(allowed_) + slope * (std::log(s.rate_per_s) - log_edge);
    const auto p = shares_at(std::min(log_odds(most), on_the_line));
    sum += n * (share * p.late + (1 - share) * p.in_time);
  }
  return sum;
}

double edge_estimate::quantile_per_s(double q) const {
  double below = 0;
  for (const belief& b : posterior_) {
    below += b.probability;
    if (below >= q) return std::exp(b.log_edge);
  }
  return std::exp(posterior_.back().log_edge);
}

double edge_estimate::slope() const {
  double mean_log = 0;
  for (const belief& b : posterior_) mean_log += b.probability * std::log(b.slope);
  return std::exp(mean_log);
}

}  // namespace lockmark::capacity
