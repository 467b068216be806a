// A session of the gate: pair after pair until it can decide, and then its decision.
//
//   stage 1   10 pairs. A metric is suspicious if it is worse with 95 % confidence, and by more
//             than the tolerance.
//   stage 2   20 new pairs, if something is suspicious. A metric that is worse in these as well,
//             with 99 % confidence or more (Holm's method shares the error among the suspects), is
//             a regression.
//
// The promise (requirement R18): without a real difference at most 0.3 % of sessions alarm, over
// all metrics together, whatever the noise and the dependence between metrics. A metric is
// suspicious by chance in 5 % of sessions at most, and the second stage's share of error is chosen
// so that 5 % x metrics x share stays below 0.3 %.
//
// It does not promise too much either: if a metric's pairs vary so much that a worsening of 25 %
// could have stayed unseen, the metric is INCONCLUSIVE. If three times the pairs would decide, the
// session runs those first.
//
// Counts that do not vary, and violations, need no statistics: one pair decides. Knows neither runs
// nor time, and draws no random numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/gate/decision.hpp"

namespace lockmark::gate {

inline constexpr std::size_t first_pairs = 10;
inline constexpr std::size_t second_pairs = 20;
inline constexpr double suspicion_confidence = 0.95;
inline constexpr double alarm_confidence = 0.99;
inline constexpr double most_false_alarms = 0.003;  // of sessions, over all metrics
// Tolerated difference of a control that should be the same on both sides.
inline constexpr double calm = 0.05;
inline constexpr double disturbance_level = 0.01;

// One run. `values` are in the order of the session's metrics.
struct block {
  std::vector<double> values;
  std::optional<double> control;  // the machine's speed without the thing compared; more: faster
  std::uint64_t violations = 0;
};

struct pair {
  block baseline;
  block candidate;
};

// The reported result of a metric. `shown` rests on stage 2 if the metric was suspicious, else on
// all pairs; its two bounds hold together with 95 %.
struct finding {
  metric of;
  decision how = decision::pass;
  std::string why;  // a clause; empty if it passed
  double baseline = 0;
  double candidate = 0;  // medians over all blocks
  std::size_t pairs = 0;
  bool suspicious = false;
  assessment shown;
};

struct conclusion {
  decision how = decision::pass;
  std::vector<std::string> reasons;  // sentences; none for a PASS
  std::vector<std::string> notes;    // further remarks
  std::vector<finding> metrics;
  std::optional<assessment> control;
  std::uint64_t violations = 0;  // of the candidate
  std::size_t pairs = 0;
};

class session {
 public:
  explicit session(std::vector<metric> metrics);

  // wants_more(): another pair is needed. planned(): the number of pairs the session may take.
  bool wants_more() const;
  std::size_t planned() const;
  std::size_t pairs() const { return pairs_.size(); }

  // REQUIRES: wants_more(); as many values as metrics, each above 0.
  void add(pair p);

  // Declares the timings worthless, for this reason (a sentence): the session ends, and is
  // inconclusive unless something exact has become worse.
  void spoil(std::string sentence);
  // Something that is a regression by itself, a sentence: the session ends.
  void fail(std::string sentence);

  // Without any pair, reports only spoil() and fail().
  conclusion conclude() const;

 private:
  std::vector<double> differences(std::size_t metric, std::size_t from, std::size_t to) const;
  std::vector<std::size_t> suspects() const;
  bool has_worse_count() const;
  bool is_second_stage_needed() const;
  bool would_help(std::size_t metric) const;
  std::vector<bool> guilty(const std::vector<std::size_t>& suspected) const;
  finding find(std::size_t metric, bool suspicious, bool guilty) const;
  void judge_count(finding& f, const std::vector<double>& differences) const;
  std::optional<assessment> control(bool& disturbed) const;
  void judge(conclusion& c, bool disturbed) const;

  std::vector<metric> metrics_;
  std::vector<pair> pairs_;
  std::optional<std::string> spoiled_;
  std::optional<std::string> failed_;
  bool second_stage_ = false;
};

}  // namespace lockmark::gate
