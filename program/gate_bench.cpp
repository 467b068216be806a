#include "program/gate_bench.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/files.hpp"
#include "harness/gate/metrics.hpp"
#include "program/execute.hpp"
#include "program/progress.hpp"

namespace lockmark::cli {
namespace {

// A run folder, or the candidate's runs in a gate's folder.
std::vector<std::filesystem::path> runs_at(const std::filesystem::path& path) {
  const auto session = path / "gate.json";
  if (!std::filesystem::exists(session)) return {path};
  const auto content = nlohmann::ordered_json::parse(readable_text(session), nullptr, false);
  std::vector<std::filesystem::path> all;
  if (content.is_object() && content.contains("runs")) {
    for (const auto& pair : content["runs"]) {
      if (pair.contains("candidate") && pair["candidate"].is_string()) {
        all.push_back(path / pair["candidate"].get<std::string>());
      }
    }
  }
  if (all.empty()) {
    throw usage_error("--against: {} names no runs of a candidate", session.string());
  }
  return all;
}

// Whether the machine made even idle threads wait for a tenth of the run. Those threads have
// nothing to do with servers and locks, so this favours neither side.
bool stood_still(const report::recorded_run& run) {
  const auto& longest = run.content.at("durations").at("hiccup").at("max_ns");
  const auto window_s = run.content.at("run").at("window_s").get<double>();
  return longest.is_number() && longest.get<double>() > 1e8 * window_s;
}

}  // namespace

gate_bench::gate_bench(gate_plan plan)
    : plan_(std::move(plan)), order_(gate::order_of_sides(plan_.seed, gate::most_pairs)) {
  interrupts();
  candidate_ = settle(plan_.candidate);
  read_stored();
  if (stored_.empty()) {
    baseline_ = settle(plan_.baseline);
  } else {
    check_stored();
  }
  create_private_folders(plan_.out);
  limits_broken_.resize(plan_.limits.size());
  limits_said_.resize(plan_.limits.size());
  outcome_.job = candidate_.job.name;
  outcome_.seed = plan_.seed;
  outcome_.candidate = side_text(candidate_.what, candidate_.job, *candidate_.where);
  if (stored_.empty()) {
    outcome_.baseline = side_text(baseline_.what, baseline_.job, *baseline_.where);
  }
}

// Sides that name the same target share its servers.
gate_bench::used_side gate_bench::settle(const gate_side& side) {
  used_side used{side, find_job(plan_.job, side.set), nullptr};
  if (side.target.empty()) {
    throw usage_error(
        "--on: say where the {} runs: a URL such as redis://host:port, local:redis, or memory:; "
        "for this side alone: --{} on=TARGET",
        side.name, side.name);
  }
  auto at = targets_.find(side.target);
  if (at == targets_.end()) {
    const auto needs = inject::needs_of(used.job.job);
    at = targets_.emplace(side.target, resolve_target(side.target, needs)).first;
  }
  used.where = &at->second;
  return used;
}

void gate_bench::read_stored() {
  for (const std::string& given : plan_.against) {
    for (const auto& path : runs_at(given)) stored_.push_back(report::read_run(path));
  }
  if (stored_.size() > gate::most_ranked) {
    throw usage_error("--against: at most {} stored runs, and these are {}", gate::most_ranked,
                      stored_.size());
  }
}

// An incompatible baseline is refused before anything is measured.
void gate_bench::check_stored() const {
  for (const report::recorded_run& run : stored_) {
    try {
      if (!run.content.at("run").at("complete").get<bool>()) {
        throw usage_error("--against: run {} is incomplete", run.name);
      }
      if (!run.content.at("verdict").at("valid").get<bool>()) {
        throw usage_error("--against: run {} is INVALID: {}", run.name, gate::reasons_of(run));
      }
      const std::string difference = gate::other_job(run, candidate_.job.job);
      if (!difference.empty()) {
        throw usage_error("--against: run {} is of another job: {}", run.name, difference);
      }
    } catch (const nlohmann::json::exception& e) {
      throw usage_error("--against: run {}: its run.json is not as lockmark writes it: {}",
                        run.name, e.what());
    }
  }
}

std::vector<gate::metric> gate_bench::candidates_for_comparison() const {
  const bool alone = gate::nobody_waits(candidate_.job.job) &&
                     (!stored_.empty() || gate::nobody_waits(baseline_.job.job));
  std::vector<gate::metric> all = gate::known_metrics(alone);
  if (!plan_.metrics.empty()) {
    std::erase_if(all, [&](const gate::metric& m) {
      return std::ranges::find(plan_.metrics, m.name, &gate::metric::name) == plan_.metrics.end();
    });
  }
  std::erase_if(all, [&](const gate::metric& m) {
    return std::ranges::find(plan_.left_out, m.name) != plan_.left_out.end();
  });
  for (gate::metric& m : all) {
    const auto given = plan_.tolerated.find(m.name);
    if (given != plan_.tolerated.end()) m.tolerated = given->second;
  }
  return all;
}

// The first pair determines which metrics can be compared.
void gate_bench::begin_session(const report::recorded_run& baseline,
                               const report::recorded_run& candidate) {
  const bool by_name = !plan_.metrics.empty();
  metrics_ = gate::measured_by(candidates_for_comparison(), by_name, candidate, "the candidate");
  metrics_ = gate::measured_by(metrics_, by_name, baseline, "the baseline");
  outcome_.started_utc = candidate.content.at("run").at("started_utc").get<std::string>();
  outcome_.provenance = candidate.content.at("provenance");
  if (stored_.empty()) {
    session_.emplace(metrics_);
    return;
  }
  const std::string here = gate::host_fingerprint(candidate);
  elsewhere_ = std::ranges::any_of(
      stored_, [&](const auto& run) { return gate::host_fingerprint(run) != here; });
  std::vector<gate::block> blocks;
  for (const report::recorded_run& run : stored_) {
    blocks.push_back(gate::block_of(metrics_, run, "the baseline"));
    // From another machine: the difference is already known.
    if (elsewhere_) blocks.back().control.reset();
  }
  session_.emplace(metrics_, std::move(blocks));
  outcome_.stored = baseline.name;
  outcome_.baseline =
      fmt::format("{} stored run{}, {} on {}", stored_.size(), stored_.size() == 1 ? "" : "s",
                  baseline.content.at("run").at("lock").get<std::string>(),
                  baseline.content.at("run").at("target").get<std::string>());
}

// "pair 3 of 10". How many there will be is open until the first one has shown what can be
// compared.
std::string gate_bench::place_text(std::size_t pair) const {
  return fmt::format("{} {}{}", stored_.empty() ? "pair" : "run", pair,
                     session_ ? fmt::format(" of {}", session_->planned()) : "");
}

report::recorded_run gate_bench::run(const used_side& side) {
  const std::size_t pair = session_ ? session_->pairs() + 1 : 1;
  progress_display display(fmt::format("{}, {}", place_text(pair), side.what.name), plan_.quiet);
  const real_clock clock;
  const time_point began = clock.now();
  // Both runs of a pair have the same arrivals and holds; each pair has different ones.
  std::vector<std::string> set{fmt::format("seed={}", plan_.seed + pair)};
  set.insert(set.end(), side.what.set.begin(), side.what.set.end());
  const auto show = [&] {
    const auto elapsed = std::chrono::duration<double>(clock.now() - began).count();
    display.announce(fmt::format("running for {:.0f} s", elapsed));
  };
  show();
  return run_apart({side.what, plan_.job, side.where->url, set, plan_.out, plan_.agents, show});
}

// Why a completed run cannot be used; empty if it can. A machine that stalled for a second leaves
// too few attempts.
std::string gate_bench::flaw_of(const report::recorded_run& run, const used_side& side) const {
  if (!run.content.at("verdict").at("valid").get<bool>()) {
    return fmt::format("INVALID: {}", gate::reasons_of(run));
  }
  const std::string who = fmt::format("the {}", side.what.name);
  try {
    if (session_) {
      gate::block_of(metrics_, run, who);
    } else {
      gate::measured_by(candidates_for_comparison(), false, run, who);
    }
  } catch (const usage_error& e) {
    return e.what();
  }
  return "";
}

// A run that is unusable, a bound, or disturbed by the machine is repeated once. Nothing if that
// fails too, or after an interrupt. In the first pair, too few attempts are no accident: throws
// usage_error.
std::optional<report::recorded_run> gate_bench::valid_run(const used_side& side) {
  std::string flaw;
  std::optional<report::recorded_run> usable;
  for (int attempt = 0; attempt < 2; ++attempt) {
    report::recorded_run done = run(side);
    const bool cut_short = done.content.at("run").at("status") == "interrupted";
    if (interrupts() > 0 || cut_short) {
      spoiled_ = "interrupted before it could decide";
      return std::nullopt;
    }
    flaw = flaw_of(done, side);
    if (!flaw.empty()) continue;
    if (!stood_still(done) && !gate::is_bound(done)) return done;
    if (!usable || gate::is_bound(*usable)) usable = std::move(done);
  }
  if (usable) return usable;
  if (!session_ && !flaw.starts_with("INVALID")) throw usage_error(flaw);
  spoiled_ = fmt::format("two runs of the {} in a row were of no use: {}", side.what.name, flaw);
  return std::nullopt;
}

void gate_bench::take_pair() {
  const std::size_t number = session_ ? session_->pairs() : 0;
  const bool baseline_first = order_.at(number) == 'b';
  std::optional<report::recorded_run> baseline, candidate;
  if (baseline_first) baseline = valid_run(baseline_);
  if (!spoiled_) candidate = valid_run(candidate_);
  if (!spoiled_ && !baseline_first) baseline = valid_run(baseline_);
  if (!baseline || !candidate) return;
  if (!session_) begin_session(*baseline, *candidate);
  gate::pair p{gate::block_of(metrics_, *baseline, "the baseline"),
               gate::block_of(metrics_, *candidate, "the candidate")};
  const bool bound = gate::is_bound(*baseline) || gate::is_bound(*candidate);
  const gate::pair told = p;
  gate::session next = *session_;
  next.add(std::move(p));
  if (bound && is_to_repeat(next)) return;
  session_ = std::move(next);
  outcome_.order += order_[number];
  outcome_.runs.emplace_back(baseline->name, candidate->name);
  tell(told.baseline.values, told.candidate.values);
  judge_limits(*candidate);
}

// A run of the candidate alone, if the baseline is stored.
void gate_bench::take_run() {
  const std::optional<report::recorded_run> candidate = valid_run(candidate_);
  if (!candidate) return;
  if (!session_) begin_session(stored_.front(), *candidate);
  gate::block b = gate::block_of(metrics_, *candidate, "the candidate");
  const std::vector<double> values = b.values;
  gate::session next = *session_;
  next.add(std::move(b));
  if (gate::is_bound(*candidate) && is_to_repeat(next)) return;
  session_ = std::move(next);
  outcome_.runs.emplace_back("", candidate->name);
  std::vector<double> usual;
  for (const gate::finding& f : session_->conclude().metrics) usual.push_back(f.baseline);
  tell(usual, values);
  judge_limits(*candidate);
}

// A pair with a bound is taken again, unless it decides all the same, or bounds are the rule here.
// Which runs are bounds is the harness's finding about itself, so leaving them out favours no side.
// `next`: the session with this pair.
bool gate_bench::is_to_repeat(const gate::session& next) {
  const bool decides = next.planned() == 1 || next.conclude().how == gate::decision::regression;
  if (decides || repeated_ > session_->pairs() + 1) return false;
  ++repeated_;
  if (!plan_.quiet) fmt::print(stderr, "{}: only a bound, once more\n", place_text(next.pairs()));
  return true;
}

// A limit is broken if more than half of the candidate's runs break it; the session stops once that
// many do.
void gate_bench::judge_limits(const report::recorded_run& candidate) {
  for (std::size_t i = 0; i < plan_.limits.size(); ++i) {
    const auto said = gate::broken_by(plan_.limits[i], candidate);
    if (!said) continue;
    limits_said_[i] = *said;
    if (++limits_broken_[i] * 2 > gate::first_pairs) {
      session_->fail(fmt::format("--fail {}: broken in {} of {} runs of the candidate; at last {}",
                                 plan_.limits[i].text, limits_broken_[i], session_->pairs(),
                                 limits_said_[i]));
    }
  }
}

// The last pair. Of the last one of all it is not said how many were planned.
void gate_bench::tell(const std::vector<double>& baseline,
                      const std::vector<double>& candidate) const {
  if (plan_.quiet) return;
  std::string changes;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    const double change = candidate[m] / baseline[m] - 1;
    changes +=
        fmt::format("{} {} {:+.1f} %", changes.empty() ? "" : ",", metrics_[m].name, 100 * change);
  }
  const std::size_t number = session_->pairs();
  const std::string place = session_->wants_more()
                                ? place_text(number)
                                : fmt::format("{} {}", stored_.empty() ? "pair" : "run", number);
  fmt::print(stderr, "{}:{}\n", place, changes);
}

gate::outcome gate_bench::measure() {
  const real_clock clock;
  const time_point began = clock.now();
  if (!plan_.quiet) fmt::print(stderr, "seed {}\n", plan_.seed);
  while (!spoiled_ && (!session_ || session_->wants_more())) {
    if (stored_.empty()) {
      take_pair();
    } else {
      take_run();
    }
  }
  if (!session_) session_.emplace(std::vector<gate::metric>{});
  if (spoiled_) session_->spoil(*spoiled_);
  return conclude(std::chrono::duration<double>(clock.now() - began).count());
}

gate::outcome gate_bench::conclude(double took_s) const {
  gate::outcome o = outcome_;
  o.took_s = took_s;
  o.found = session_->conclude();
  o.only_warns = elsewhere_;
  if (elsewhere_) {
    o.found.notes.push_back(
        "the stored baseline is from another machine, so it can warn, but not fail");
  }
  if (repeated_ > 0) {
    o.found.notes.push_back(
        fmt::format("lockmark or the machine slowed {} {}{} down, which {} made "
                    "again",
                    repeated_, stored_.empty() ? "pair" : "run", repeated_ == 1 ? "" : "s",
                    repeated_ == 1 ? "was" : "were"));
  }
  if (!stored_.empty() && stored_.size() < gate::least_stored) {
    o.found.notes.push_back(fmt::format(
        "fewer than {} stored runs can warn of a timing, but not fail it; the folder of "
        "a gate has that many",
        gate::least_stored));
  }
  return o;
}

}  // namespace lockmark::cli
