#include "harness/gate/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/lists.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::gate {
namespace {

// What thirty pairs detect is about four fifths of what ten do, and less if the spread of the ten
// was large by chance.
constexpr double promising = 0.75;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::vector<double> values_of(const std::vector<block>& blocks, std::size_t metric) {
  std::vector<double> all;
  for (const block& b : blocks) all.push_back(b.values[metric]);
  return all;
}

// The controls of both sides; of pairs, where both runs have one.
std::pair<std::vector<double>, std::vector<double>> controls_of(
    const std::vector<block>& baselines, const std::vector<block>& candidates, bool in_pairs) {
  std::vector<double> from, to;
  for (std::size_t i = 0; i < baselines.size(); ++i) {
    const bool both = !in_pairs || candidates[i].control;
    if (baselines[i].control && both) from.push_back(*baselines[i].control);
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool both = !in_pairs || baselines[i].control;
    if (candidates[i].control && both) to.push_back(*candidates[i].control);
  }
  return {from, to};
}

rank_shift between(const metric& m, const std::vector<double>& baselines,
                   const std::vector<double>& candidates, bool in_pairs) {
  std::vector<double> from, to;
  for (const double b : baselines) from.push_back(worsening(m, 1, b));
  for (const double c : candidates) to.push_back(worsening(m, 1, c));
  if (!in_pairs) return rank_shift::of_samples(from, to);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] -= from[i];
  return rank_shift::of_pairs(to);
}

}  // namespace

std::string order_of_sides(std::uint64_t seed, std::size_t pairs) {
  constexpr std::uint64_t stream = 0x6f72646572;  // the loads use the seed as well
  stats::random_source random(seed, stream);
  std::string all;
  while (all.size() < pairs) {
    std::string block(first_pairs / 2, 'b');
    block.append(first_pairs / 2, 'c');
    for (std::size_t i = block.size(); i > 1; --i) std::swap(block[i - 1], block[random.below(i)]);
    all += block;
  }
  all.resize(pairs);
  return all;
}

session::session(std::vector<metric> metrics, std::vector<block> stored)
    : metrics_(std::move(metrics)),
      baselines_(std::move(stored)),
      stored_(!baselines_.empty()),
      suspicious_(metrics_.size(), false) {}

rank_shift session::shift_of(std::size_t metric) const {
  return between(metrics_[metric], values_of(baselines_, metric), values_of(candidates_, metric),
                 !stored_);
}

std::size_t session::timings() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(metrics_, [](const metric& m) { return !m.exact; }));
}

// At this length of the session, for one of so many metrics that share the error.
double session::confidence(std::size_t rivals) const {
  if (pairs() >= most_pairs) return 1 - alarm_error / static_cast<double>(rivals);
  return stored_ ? stored_suspicion_confidence : suspicion_confidence;
}

assessment session::assess_now(std::size_t metric) const {
  const std::size_t rivals = std::max<std::size_t>(1, timings());
  return assess(metrics_[metric], shift_of(metric), confidence(rivals));
}

// The first look.
void session::look() {
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (metrics_[m].exact || !doubt_about(m).empty()) continue;
    const assessment a = assess_now(m);
    const double limit = metrics_[m].largest_blind_spot;
    const bool would_help =
        a.blind_spot > limit && promising * std::log1p(a.blind_spot) <= std::log1p(limit);
    suspicious_[m] = a.worse;
    second_stage_ = second_stage_ || a.worse || would_help;
  }
}

// The first run in which the metric is only known as a bound, as a clause; empty if there is none.
std::string session::doubt_about(std::size_t metric) const {
  const auto first = [&](const std::vector<block>& blocks, std::string_view whose) -> std::string {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (metric >= blocks[i].doubts.size() || blocks[i].doubts[metric].empty()) continue;
      return fmt::format("{} {} {}", whose, i + 1, blocks[i].doubts[metric]);
    }
    return "";
  };
  std::string clause = first(candidates_, "the candidate's run");
  if (clause.empty()) clause = first(baselines_, stored_ ? "stored run" : "the baseline's run");
  return clause;
}

// No timing can be compared any more.
bool session::is_hopeless() const {
  if (candidates_.empty()) return false;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (!metrics_[m].exact && doubt_about(m).empty()) return false;
  }
  return timings() > 0;
}

// Worse than in the same pair, or than in any stored run.
bool session::is_count_worse(std::size_t metric) const {
  const gate::metric& of = metrics_[metric];
  const auto baselines = values_of(baselines_, metric), candidates = values_of(candidates_, metric);
  const auto worst = [&](double a, double b) { return worsening(of, a, b) > 0 ? b : a; };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    double against = baselines[stored_ ? 0 : i];
    if (stored_) {
      for (const double b : baselines) against = worst(against, b);
    }
    if (exactly_worse(of, worsening(of, against, candidates[i]))) return true;
  }
  return false;
}

bool session::has_worse_count() const {
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (metrics_[m].exact && is_count_worse(m)) return true;
  }
  return std::ranges::any_of(candidates_, [](const block& c) { return c.violations > 0; });
}

bool session::wants_more() const {
  return !spoiled_ && !failed_ && !has_worse_count() && !is_hopeless() && pairs() < planned();
}

std::size_t session::planned() const {
  // With nothing but counts, another pair would show nothing new.
  if (!metrics_.empty() && timings() == 0) return 1;
  return second_stage_ ? most_pairs : first_pairs;
}

void session::add(pair p) {
  baselines_.push_back(std::move(p.baseline));
  add(std::move(p.candidate));
}

void session::add(block candidate) {
  candidates_.push_back(std::move(candidate));
  if (pairs() == first_pairs) look();
}

void session::spoil(std::string sentence) {
  spoiled_ = std::move(sentence);
}

void session::fail(std::string sentence) {
  failed_ = std::move(sentence);
}

// Holm: in the order of p-values, up to the first that is not rejected.
std::vector<bool> session::guilty() const {
  std::vector<bool> guilty(metrics_.size(), false);
  if (pairs() < most_pairs) return guilty;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (metrics_[m].exact || !doubt_about(m).empty()) continue;
    order.emplace_back(shift_of(m).p_value_above_zero(), m);
  }
  std::ranges::sort(order);
  std::size_t rivals = timings();
  for (const auto& [p_value, m] : order) {
    if (p_value > alarm_error / static_cast<double>(rivals)) break;
    guilty[m] = assess(metrics_[m], shift_of(m), confidence(rivals)).worse;
    --rivals;
  }
  return guilty;
}

std::string session::runs_text(std::size_t n) const {
  return fmt::format("{} {}{}", n, stored_ ? "run" : "pair", n == 1 ? "" : "s");
}

void session::judge_timing(finding& f, std::size_t metric, bool guilty) const {
  const std::string doubt = doubt_about(metric);
  f.how = decision::inconclusive;
  if (!doubt.empty()) {
    f.why = doubt;
  } else if (guilty) {
    const bool weak = stored_ && baselines_.size() < least_stored;
    f.how = weak ? decision::warning : decision::regression;
    f.why = fmt::format("worse by {}, more than the {} that is tolerated", percent(f.shown.effect),
                        percent(f.of.tolerated));
  } else if (f.pairs < planned()) {
    f.why = fmt::format("only {} of the {} that a timing needs", f.pairs, runs_text(planned()));
  } else if (!std::isfinite(f.shown.blind_spot)) {
    f.why = fmt::format("{} stored run{} cannot tell how much the baseline varies",
                        baselines_.size(), baselines_.size() == 1 ? "" : "s");
  } else if (f.shown.blind_spot > f.of.largest_blind_spot) {
    f.why = fmt::format(
        "varies so much that a worsening of {} could have gone unnoticed; "
        "longer runs (--block) vary less",
        percent(f.shown.blind_spot));
  } else {
    f.how = decision::pass;
  }
}

finding session::find(std::size_t metric, bool guilty) const {
  finding f;
  f.of = metrics_[metric];
  f.suspicious = suspicious_[metric];
  f.baseline = median(values_of(baselines_, metric));
  f.candidate = median(values_of(candidates_, metric));
  f.pairs = pairs();
  f.shown = assess_now(metric);
  if (!f.of.exact) {
    judge_timing(f, metric, guilty);
    return f;
  }
  if (is_count_worse(metric)) {
    f.how = decision::regression;
    f.why =
        fmt::format("a count that does not vary, and one {} shows it", stored_ ? "run" : "pair");
  }
  // Equal numbers do not prove a spread of zero, but here spread does not matter.
  f.shown.blind_spot = f.of.tolerated;
  return f;
}

// The control must be the same on both sides; if not, more differs than what is compared.
std::optional<assessment> session::control(bool& disturbed) const {
  disturbed = false;
  const metric faster{"control", true}, slower{"control", false};
  const auto [baselines, candidates] = controls_of(baselines_, candidates_, !stored_);
  if (baselines.empty() || candidates.empty()) return std::nullopt;
  const assessment a =
      assess(faster, between(faster, baselines, candidates, !stored_), suspicion_confidence);
  const assessment b =
      assess(slower, between(slower, baselines, candidates, !stored_), suspicion_confidence);
  const double p = 2 * std::min(a.p_value, b.p_value);
  disturbed = std::abs(std::log1p(a.effect)) > std::log1p(calm) && p < disturbance_level;
  return a;
}

void session::judge(conclusion& c, bool disturbed) const {
  if (c.violations > 0) {
    c.reasons.push_back(fmt::format("the candidate violated mutual exclusion: {} violation{}",
                                    c.violations, c.violations == 1 ? "" : "s"));
  }
  if (failed_) c.reasons.push_back(*failed_);
  const bool worthless = disturbed || spoiled_;
  if (worthless) c.how = decision::inconclusive;
  if (c.violations > 0 || failed_) c.how = decision::regression;
  for (finding& f : c.metrics) {
    // The machine differed as well: a timing can neither blame nor clear the candidate.
    if (worthless && !f.of.exact) f.how = decision::inconclusive;
    c.how = std::max(c.how, f.how);
  }
  if (spoiled_) c.reasons.push_back(*spoiled_);
  if (disturbed) {
    c.reasons.push_back(fmt::format(
        "the control, a memory lock that neither side can influence, was {} {} beside "
        "the candidate: the machine was not the same for both",
        percent(std::abs(c.control->effect)), c.control->effect > 0 ? "slower" : "faster"));
  }
  for (const decision which : {decision::regression, decision::inconclusive, decision::warning}) {
    if (which == decision::inconclusive && c.how == decision::regression) continue;
    for (const std::string& why : distinct(c.metrics, &finding::why)) {
      std::vector<std::string> names;
      for (const finding& f : c.metrics) {
        if (f.how == which && f.why == why) names.push_back(f.of.name);
      }
      if (names.empty() || why.empty()) continue;
      c.reasons.push_back(fmt::format("{}: {}", joined(names), why));
    }
  }
}

conclusion session::conclude() const {
  conclusion c;
  c.pairs = pairs();
  c.stored = stored_ ? baselines_.size() : 0;
  std::uint64_t of_baseline = 0;
  for (const block& b : candidates_) c.violations += b.violations;
  for (const block& b : baselines_) of_baseline += b.violations;
  if (of_baseline > 0) {
    c.notes.push_back(fmt::format("the baseline itself violated mutual exclusion: {} violation{}",
                                  of_baseline, of_baseline == 1 ? "" : "s"));
  }
  bool disturbed = false;
  if (!candidates_.empty()) {
    c.control = control(disturbed);
    const auto found = guilty();
    for (std::size_t m = 0; m < metrics_.size(); ++m) c.metrics.push_back(find(m, found[m]));
  }
  judge(c, disturbed);
  return c;
}

}  // namespace lockmark::gate
