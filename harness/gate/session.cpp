#include "harness/gate/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockmark::gate {
namespace {

// Each bound of a two-sided 95 % interval.
constexpr double shown_confidence = 0.975;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace

session::session(std::vector<metric> metrics) : metrics_(std::move(metrics)) {}

std::vector<double> session::differences(std::size_t metric, std::size_t from,
                                         std::size_t to) const {
  std::vector<double> all;
  for (std::size_t i = from; i < std::min(to, pairs_.size()); ++i) {
    const pair& p = pairs_[i];
    all.push_back(
        worsening(metrics_[metric], p.baseline.values[metric], p.candidate.values[metric]));
  }
  return all;
}

// Of the first stage, once it is complete.
std::vector<std::size_t> session::suspects() const {
  std::vector<std::size_t> all;
  if (pairs_.size() < first_pairs) return all;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (metrics_[m].exact) continue;
    if (assess(metrics_[m], differences(m, 0, first_pairs), suspicion_confidence).worse) {
      all.push_back(m);
    }
  }
  return all;
}

bool session::has_worse_count() const {
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (!metrics_[m].exact) continue;
    const auto all = differences(m, 0, pairs_.size());
    if (std::ranges::any_of(all, [&](double d) { return exactly_worse(metrics_[m], d); })) {
      return true;
    }
  }
  return std::ranges::any_of(pairs_, [](const pair& p) { return p.candidate.violations > 0; });
}

// True if ten pairs cannot decide the metric, and thirty could.
bool session::would_help(std::size_t metric) const {
  if (metrics_[metric].exact) return false;
  const auto first = differences(metric, 0, first_pairs);
  const double limit = metrics_[metric].largest_blind_spot;
  return smallest_detectable(first) > limit &&
         smallest_detectable(first, first_pairs + second_pairs) <= limit;
}

bool session::is_second_stage_needed() const {
  if (!suspects().empty()) return true;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (would_help(m)) return true;
  }
  return false;
}

bool session::wants_more() const {
  return !spoiled_ && !failed_ && !has_worse_count() && pairs_.size() < planned();
}

std::size_t session::planned() const {
  // With nothing but counts, another pair would show nothing new.
  if (!metrics_.empty() && std::ranges::all_of(metrics_, &metric::exact)) return 1;
  return second_stage_ ? first_pairs + second_pairs : first_pairs;
}

void session::add(pair p) {
  pairs_.push_back(std::move(p));
  if (pairs_.size() == first_pairs) second_stage_ = is_second_stage_needed();
}

void session::spoil(std::string sentence) {
  spoiled_ = std::move(sentence);
}

void session::fail(std::string sentence) {
  failed_ = std::move(sentence);
}

// Holm: in the order of p-values, up to the first that is not rejected.
std::vector<bool> session::guilty(const std::vector<std::size_t>& suspected) const {
  std::vector<bool> guilty(metrics_.size(), false);
  if (pairs_.size() < first_pairs + second_pairs) return guilty;
  std::vector<double> p_value(metrics_.size(), 1);
  for (const std::size_t m : suspected) {
    p_value[m] = assess(metrics_[m], differences(m, first_pairs, pairs_.size()), 0.99).p_value;
  }
  auto order = suspected;
  std::ranges::sort(order, {}, [&](std::size_t m) { return p_value[m]; });
  const auto tested = static_cast<double>(
      std::ranges::count_if(metrics_, [](const metric& m) { return !m.exact; }));
  const double error =
      std::min(1 - alarm_confidence, most_false_alarms / ((1 - suspicion_confidence) * tested));
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::size_t m = order[rank];
    const double level = error / static_cast<double>(order.size() - rank);
    if (p_value[m] > level) break;
    guilty[m] = assess(metrics_[m], differences(m, first_pairs, pairs_.size()), 1 - level).worse;
  }
  return guilty;
}

void session::judge_count(finding& f, const std::vector<double>& differences) const {
  if (std::ranges::any_of(differences, [&](double d) { return exactly_worse(f.of, d); })) {
    f.how = decision::regression;
    f.why = "a count that does not vary, and one pair shows it";
  }
  // Equal numbers do not prove a spread of zero, but here spread does not matter.
  f.shown.blind_spot = f.of.tolerated;
}

finding session::find(std::size_t metric, bool suspicious, bool guilty) const {
  finding f;
  f.of = metrics_[metric];
  f.suspicious = suspicious;
  std::vector<double> baselines, candidates;
  for (const pair& p : pairs_) {
    baselines.push_back(p.baseline.values[metric]);
    candidates.push_back(p.candidate.values[metric]);
  }
  f.baseline = median(baselines);
  f.candidate = median(candidates);
  const bool of_second = suspicious && pairs_.size() > first_pairs;
  const auto seen = differences(metric, of_second ? first_pairs : 0, pairs_.size());
  f.pairs = seen.size();
  f.shown = assess(f.of, seen, shown_confidence);
  if (f.of.exact) {
    judge_count(f, seen);
  } else if (guilty) {
    f.how = decision::regression;
    f.why = fmt::format("worse by {}, more than the {} that is tolerated", percent(f.shown.effect),
                        percent(f.of.tolerated));
  } else if (f.pairs < first_pairs) {
    f.how = decision::inconclusive;
    f.why = fmt::format("{} of {} pairs", f.pairs, planned());
  } else if (!(f.shown.blind_spot <= f.of.largest_blind_spot)) {
    f.how = decision::inconclusive;
    f.why =
        fmt::format("a worsening below {} could have stayed unseen", percent(f.shown.blind_spot));
  }
  return f;
}

// The control must be the same on both sides; if not, more differs than what is compared.
std::optional<assessment> session::control(bool& disturbed) const {
  disturbed = false;
  const metric control{"control", true};
  std::vector<double> worse, better;
  for (const pair& p : pairs_) {
    if (!p.baseline.control || !p.candidate.control) continue;
    worse.push_back(worsening(control, *p.baseline.control, *p.candidate.control));
    better.push_back(-worse.back());
  }
  if (worse.empty()) return std::nullopt;
  const assessment a = assess(control, worse, shown_confidence);
  const double p = 2 * std::min(a.p_value, assess(control, better, shown_confidence).p_value);
  disturbed = std::abs(std::log1p(a.effect)) > std::log1p(calm) && p < disturbance_level;
  return a;
}

void session::judge(conclusion& c, bool disturbed) const {
  if (c.violations > 0) {
    c.reasons.push_back(
        fmt::format("the candidate is no lock: {} violations of mutual exclusion", c.violations));
  }
  if (failed_) c.reasons.push_back(*failed_);
  const bool worthless = disturbed || spoiled_;
  bool regression = c.violations > 0 || failed_;
  bool inconclusive = worthless;
  for (finding& f : c.metrics) {
    // The machine differed as well: a timing can neither blame nor clear the candidate.
    if (worthless && !f.of.exact) f.how = decision::inconclusive;
    regression |= f.how == decision::regression;
    inconclusive |= f.how == decision::inconclusive;
  }
  if (spoiled_) c.reasons.push_back(*spoiled_);
  if (disturbed) {
    c.reasons.push_back(fmt::format(
        "the control, which knows nothing of what is compared, was {} {} with the "
        "candidate: the machine was not the same for both",
        percent(std::abs(c.control->effect)), c.control->effect > 0 ? "slower" : "faster"));
  }
  for (const decision which : {decision::regression, decision::inconclusive}) {
    if (which == decision::inconclusive && regression) continue;
    for (const finding& f : c.metrics) {
      if (f.how == which && !f.why.empty()) {
        c.reasons.push_back(fmt::format("{}: {}", f.of.name, f.why));
      }
    }
  }
  c.how = regression     ? decision::regression
          : inconclusive ? decision::inconclusive
                         : decision::pass;
}

conclusion session::conclude() const {
  conclusion c;
  c.pairs = pairs_.size();
  std::uint64_t of_baseline = 0;
  for (const pair& p : pairs_) {
    c.violations += p.candidate.violations;
    of_baseline += p.baseline.violations;
  }
  if (of_baseline > 0) {
    c.notes.push_back(fmt::format("the baseline itself has {} violations", of_baseline));
  }
  bool disturbed = false;
  c.control = control(disturbed);
  if (!pairs_.empty()) {
    const auto suspected = suspects();
    const auto found = guilty(suspected);
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      const bool suspicious = std::ranges::find(suspected, m) != suspected.end();
      c.metrics.push_back(find(m, suspicious, found[m]));
    }
  }
  judge(c, disturbed);
  return c;
}

}  // namespace lockmark::gate
