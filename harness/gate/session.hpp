// A session of the gate: pair after pair until it can decide, and then its decision.
//
//   first look  after 10 pairs. A metric is suspicious if it is worse with 95 % confidence, and by
//               more than the tolerance. Without a suspicious metric the session ends.
//   last look   after 30 pairs, if something was suspicious, or too noisy for ten pairs to clear.
//               All thirty pairs decide: a metric that is worse, and by more than the tolerance, at
//               an error of 0.1 % for all metrics together (Holm's method shares it among them),
//               is a regression.
//
// The promise (requirement R18): without a real difference at most 0.3 % of sessions alarm, over
// all metrics together, whatever the noise and the dependence between metrics. Only the last look
// alarms, so the first one, which can but end a session, spends none of that error.
//
// It does not promise too much either. What a metric could have hidden is its smallest detectable
// worsening (assessment::blind_spot), at the look that cleared it: of a true worsening of that size
// at most 2.5 % of sessions pass it at the first look, and 2.5 % at the last, 5 % in all. The
// tolerance is part of it. If it is above 25 %, the metric is INCONCLUSIVE. If thirty pairs would
// bring it below, the session runs those first.
//
// Stored runs in place of a baseline are a sample of their own: looks after 10 and 30 runs of the
// candidate compare two independent samples. Fewer than ten stored runs can warn of a timing, and
// never fail it. What has changed between then and now besides the candidate is charged to the
// candidate; the promise holds for runs of the same time.
//
// A figure that is only known as a bound, in any run, is not compared: its metric is INCONCLUSIVE.
//
// Counts that do not vary, and violations, need no statistics: one pair decides. Knows neither runs
// nor time; only order_of_sides draws random numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/gate/decision.hpp"

namespace lockmark::gate {

inline constexpr std::size_t first_pairs = 10;
inline constexpr std::size_t most_pairs = 30;
inline constexpr std::size_t least_stored = 10;     // stored runs that can fail a timing
inline constexpr double most_false_alarms = 0.003;  // of sessions, over all metrics
// What the last look spends of that: a third, which leaves room for what makes pairs resemble each
// other in spite of their random order.
inline constexpr double alarm_error = most_false_alarms / 3;
// Of the first look. Stored runs limit the last look as well, as they do not become more, so that
// the first one accuses no sooner than the last one could.
inline constexpr double suspicion_confidence = 0.95;
inline constexpr double stored_suspicion_confidence = 0.998;
// Tolerated difference of a control that should be the same on both sides.
inline constexpr double calm = 0.05;
inline constexpr double disturbance_level = 0.01;

// Which side of each pair runs first: 'b' or 'c'. Random, and balanced in blocks of ten pairs, so
// that whatever makes the second run of a pair slower, or each run slower than the one before,
// cancels.
std::string order_of_sides(std::uint64_t seed, std::size_t pairs);

// One run. `values` are in the order of the session's metrics.
struct block {
  std::vector<double> values;
  std::optional<double> control;  // the machine's speed without the thing compared; more: faster
  std::uint64_t violations = 0;
  // By metric, a predicate: why the value is only a bound; empty if it was measured. May be shorter
  // than `values`.
  std::vector<std::string> doubts = {};
};

struct pair {
  block baseline;
  block candidate;
};

// The reported result of a metric. The two bounds of `shown` hold together with 95 %.
struct finding {
  metric of;
  decision how = decision::pass;
  std::string why;  // a clause; empty if it passed
  double baseline = 0;
  double candidate = 0;  // medians over all blocks
  std::size_t pairs = 0;
  bool suspicious = false;  // at the first look
  assessment shown;
};

struct conclusion {
  decision how = decision::pass;
  std::vector<std::string> reasons;  // sentences; none for a PASS
  std::vector<std::string> notes;    // further remarks
  std::vector<finding> metrics;
  std::optional<assessment> control;
  std::uint64_t violations = 0;  // of the candidate
  std::size_t pairs = 0;         // runs of the candidate
  std::size_t stored = 0;        // runs of a stored baseline; 0: there were pairs
};

class session {
 public:
  // `stored`: runs of a baseline, at most most_ranked, if it is not measured in pairs.
  explicit session(std::vector<metric> metrics, std::vector<block> stored = {});

  // wants_more(): another pair is needed. planned(): the number of pairs the session may take.
  bool wants_more() const;
  std::size_t planned() const;
  std::size_t pairs() const { return candidates_.size(); }

  // REQUIRES: wants_more(); as many values as metrics, each above 0.
  void add(pair p);
  // The same of the candidate alone. REQUIRES: a stored baseline.
  void add(block candidate);

  // Declares the timings worthless, for this reason (a sentence): the session ends, and is
  // inconclusive unless something exact has become worse.
  void spoil(std::string sentence);
  // Something that is a regression by itself, a sentence: the session ends.
  void fail(std::string sentence);

  // Without any pair, reports only spoil() and fail().
  conclusion conclude() const;

 private:
  rank_shift shift_of(std::size_t metric) const;
  double confidence(std::size_t rivals) const;
  assessment assess_now(std::size_t metric) const;
  std::size_t timings() const;
  void look();
  std::string doubt_about(std::size_t metric) const;
  bool is_hopeless() const;
  bool is_count_worse(std::size_t metric) const;
  bool has_worse_count() const;
  std::vector<bool> guilty() const;
  finding find(std::size_t metric, bool guilty) const;
  void judge_timing(finding& f, std::size_t metric, bool guilty) const;
  std::optional<assessment> control(bool& disturbed) const;
  void judge(conclusion& c, bool disturbed) const;
  std::string runs_text(std::size_t n) const;

  std::vector<metric> metrics_;
  std::vector<block> baselines_;  // of the pairs, or stored
  std::vector<block> candidates_;
  bool stored_ = false;
  std::vector<bool> suspicious_;  // by metric, once the first look is over
  bool second_stage_ = false;
  std::optional<std::string> spoiled_;
  std::optional<std::string> failed_;
};

}  // namespace lockmark::gate
