#include "harness/run/freezes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace lockmark::run {
namespace {

// Each is a line of the summary.
constexpr std::size_t most_marks = 20;
constexpr std::string_view mark_of_workers = "stood_still";
constexpr std::string_view mark_of_lockmark = "lockmark_stood_still";
constexpr std::string_view mark_of_machine = "machine_suspended";

double as_seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

std::string told_s(std::int64_t ns) {
  return fmt::format("{:.2f}", as_seconds(ns));
}

// `f` without the time from `from_ns` to `until_ns`: the longer part that remains.
freeze without(freeze f, std::int64_t from_ns, std::int64_t until_ns) {
  if (until_ns <= f.from_ns || from_ns >= f.until_ns()) return f;
  const freeze before{f.from_ns, std::max<std::int64_t>(0, from_ns - f.from_ns), f.worker};
  const freeze after{until_ns, std::max<std::int64_t>(0, f.until_ns() - until_ns), f.worker};
  return before.for_ns >= after.for_ns ? before : after;
}

freeze within(const freeze& f, std::int64_t start_ns, std::int64_t end_ns) {
  const std::int64_t from_ns = std::clamp(f.from_ns, start_ns, end_ns);
  return {from_ns, std::clamp(f.until_ns(), start_ns, end_ns) - from_ns, f.worker};
}

// Freezes that overlap, of whatever workers, as one.
struct group {
  freeze span;
  std::set<std::uint64_t> workers;
};

// REQUIRES: in order of time.
std::vector<group> grouped(const std::vector<freeze>& all) {
  std::vector<group> groups;
  for (const freeze& f : all) {
    if (groups.empty() || f.from_ns >= groups.back().span.until_ns()) groups.push_back({f, {}});
    group& last = groups.back();
    last.span.for_ns = std::max(last.span.until_ns(), f.until_ns()) - last.span.from_ns;
    last.workers.insert(f.worker);
  }
  return groups;
}

// Participants count from 1, as in the `who` of faults.
std::string who(const result& r, const std::set<std::uint64_t>& workers) {
  const bool apart = r.job.participants > 0;
  if (workers.size() >= r.workers) return apart ? "every participant" : "lockmark";
  std::vector<std::uint64_t> numbers;
  for (const std::uint64_t w : workers) numbers.push_back(w + 1);
  const char* one = apart ? "participant" : "load thread";
  return fmt::format("{}{} {}", one, numbers.size() > 1 ? "s" : "", fmt::join(numbers, ", "));
}

void add_mark(result& r, const freeze& f, std::string_view kind, std::string text) {
  const double at_s = as_seconds(f.from_ns - r.window_start_ns);
  r.marks.push_back({at_s, as_seconds(f.for_ns), std::string(kind), std::move(text), false});
}

void sort_marks(result& r) {
  std::ranges::stable_sort(r.marks, {}, &mark::at_s);
}

// The sentence of the verdict: about all workers if each stood for at least half as long as the one
// that stood longest, else about that one.
message describe(const result& r, const std::vector<freeze>& all,
                 const std::map<std::uint64_t, std::int64_t>& stood_ns) {
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto worst = std::max_element(stood_ns.begin(), stood_ns.end(), by_time);
  const auto least = std::min_element(stood_ns.begin(), stood_ns.end(), by_time);
  const bool together = stood_ns.size() >= r.workers && 2 * least->second >= worst->second;
  std::vector<freeze> own;
  std::ranges::copy_if(all, std::back_inserter(own),
                       [&](const freeze& f) { return f.worker == worst->first; });
  const freeze longest = *std::ranges::max_element(own, {}, &freeze::for_ns);
  std::vector<std::string> values = {told_s(worst->second), told_s(r.window_ns),
                                     told_s(longest.for_ns),
                                     told_s(longest.from_ns - r.window_start_ns)};
  const bool apart = r.job.participants > 0;
  if (together) return {apart ? "participants_froze" : "lockmark_froze", std::move(values)};
  values.insert(values.begin(), fmt::format("{}", worst->first + 1));
  return {apart ? "participant_froze" : "thread_froze", std::move(values)};
}

// One for each participant that was hit: of a fault on several, only its plan tells whom.
std::vector<faults::infliction> one_by_one(const result& r,
                                           const std::vector<faults::infliction>& inflicted) {
  const auto plans = faults::read_faults(r.job.faults);
  std::vector<faults::infliction> all;
  for (faults::infliction one : inflicted) {
    all.push_back(one);
    const bool several = one.plan < plans.size() && faults::hits_participants(plans[one.plan]);
    if (one.participant || !several) continue;
    for (std::uint32_t p = 0; p < r.workers; ++p) {
      one.participant = p;
      all.push_back(one);
    }
  }
  return all;
}

// Time in which lockmark stood still is not time in which the lock granted nothing.
void take_out_of_gap(findings& found, const std::vector<group>& groups) {
  found.longest_gap_ns = 0;
  for (const gap& g : found.gaps) {
    std::int64_t frozen_ns = 0;
    for (const group& still : groups) {
      frozen_ns += within(still.span, g.began_ns, g.began_ns + g.length_ns).for_ns;
    }
    if (g.length_ns - frozen_ns <= found.longest_gap_ns) continue;
    found.longest_gap_ns = g.length_ns - frozen_ns;
    found.gap_began_ns = g.began_ns;
  }
}

}  // namespace

std::vector<freeze> unexplained(std::span<const freeze> seen,
                                const std::vector<faults::infliction>& inflicted,
                                std::int64_t window_start_ns, std::int64_t window_end_ns) {
  std::vector<freeze> all;
  for (freeze f : seen) {
    for (const faults::infliction& fault : inflicted) {
      if (!fault.participant || *fault.participant != f.worker) continue;
      const std::int64_t began_ns = to_ns(fault.began);
      f = without(f, began_ns, fault.over ? began_ns + fault.lasted.count() : window::never);
    }
    const bool explained = f.for_ns < least_freeze.count();
    f = within(f, window_start_ns, window_end_ns);
    if (!explained && f.for_ns > 0) all.push_back(f);
  }
  std::ranges::sort(all, {}, &freeze::from_ns);
  return all;
}

void judge_freezes(result& r, const std::vector<faults::infliction>& inflicted) {
  const std::int64_t end_ns = r.window_start_ns + r.window_ns;
  const auto all =
      unexplained(r.totals.freezes, one_by_one(r, inflicted), r.window_start_ns, end_ns);
  if (all.empty() || r.window_ns <= 0) return;
  std::map<std::uint64_t, std::int64_t> stood_ns;
  for (const freeze& f : all) stood_ns[f.worker] += f.for_ns;
  std::int64_t sum_ns = 0, most_ns = 0;
  for (const auto& [worker, ns] : stood_ns) {
    sum_ns += ns;
    most_ns = std::max(most_ns, ns);
  }
  const auto window = static_cast<double>(r.window_ns);
  const auto workers = static_cast<double>(std::max(1U, r.workers));
  freezing& f = r.self.frozen;
  f.share = static_cast<double>(sum_ns) / (window * workers);
  f.worst_share = static_cast<double>(most_ns) / window;
  f.longest_ns = std::ranges::max(all, {}, &freeze::for_ns).for_ns;
  f.attempts = static_cast<double>(all.size() * r.job.clients_in_all()) / workers;
  f.sentence = describe(r, all, stood_ns);
  const auto groups = grouped(all);
  for (std::size_t i = 0; i < std::min(groups.size(), most_marks); ++i) {
    add_mark(r, groups[i].span, mark_of_workers,
             fmt::format("{} stood still for {} s, by no fault of the job",
                         who(r, groups[i].workers), told_s(groups[i].span.for_ns)));
  }
  sort_marks(r);
  take_out_of_gap(r.found, groups);
}

void judge_own_freezes(result& r, std::span<const freeze> of_lockmark,
                       std::span<const freeze> asleep) {
  std::erase_if(r.marks, [](const mark& m) {
    return m.kind == mark_of_lockmark || m.kind == mark_of_machine;
  });
  const std::int64_t start_ns = r.window_start_ns, end_ns = start_ns + r.window_ns;
  freezing& mine = r.self.frozen;
  mine.suspended_ns = 0;
  for (const freeze& f : asleep) {  // the clock of the run stood still meanwhile
    if (f.from_ns < start_ns || f.from_ns >= end_ns) continue;
    if (mine.suspended_ns == 0) mine.suspended_at_ns = f.from_ns - start_ns;
    mine.suspended_ns += f.for_ns;
    add_mark(r, {f.from_ns, 0, 0}, mark_of_machine,
             fmt::format("the machine was suspended for {} s", told_s(f.for_ns)));
  }
  std::size_t marks = 0;
  for (const freeze& f : of_lockmark) {
    const freeze inside = within(f, start_ns, end_ns);
    if (r.job.participants == 0 || inside.for_ns <= 0 || ++marks > most_marks) continue;
    add_mark(r, inside, mark_of_lockmark,
             fmt::format("lockmark, apart from its participants, stood still for {} s",
                         told_s(inside.for_ns)));
  }
  sort_marks(r);
}

}  // namespace lockmark::run
