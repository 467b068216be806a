#include "harness/run/fault_findings.hpp"

#include <algorithm>

#include "harness/check/aftermath.hpp"
#include "harness/faults/kind.hpp"

namespace lockmark::run {
namespace {

// Instances are dealt to participants in turn (run/worker.hpp), clients to instances in blocks.
bool was_hit(const faults::infliction& i, std::uint32_t client, const config::job& job) {
  if (!i.participant) return false;
  return client / job.clients % job.participants == *i.participant;
}

// How long the affected client had held its key by then. A grant to another client ended its hold,
// unless each client has its own key.
std::optional<duration> held_by_then(const faults::infliction& i, const findings& found,
                                     const config::job& job) {
  const std::int64_t at_ns = to_ns(i.began);
  std::optional<duration> held;
  for (const grant_stamp& g : found.grant_stamps) {
    if (g.at_ns > at_ns) break;
    if (job.keys.kind != config::key_choice::shape::own) held.reset();
    if (was_hit(i, g.client, job)) held = duration{at_ns - g.at_ns};
  }
  return held;
}

// A hold granted to the victim after the disruption is a hold like any other.
bool is_of_the_hold_that_was_hit(const faults::infliction& i, const findings& found,
                                 const config::job& job, const check::overlap& o) {
  if (!was_hit(i, o.first_client, job)) return false;
  return std::none_of(
      found.grant_stamps.begin(), found.grant_stamps.end(), [&](const grant_stamp& g) {
        return g.client == o.first_client && g.at_ns > to_ns(i.began) && g.at_ns <= o.at_ns;
      });
}

std::uint64_t among_others(const faults::infliction& i, const findings& found,
                           const config::job& job, std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<std::uint64_t>(
      std::count_if(found.overlaps.begin(), found.overlaps.end(), [&](const check::overlap& o) {
        return o.at_ns >= from_ns && o.at_ns < to_ns &&
               !is_of_the_hold_that_was_hit(i, found, job, o);
      }));
}

std::vector<std::int64_t> stamps_of(const std::vector<grant_stamp>& grants) {
  std::vector<std::int64_t> all;
  all.reserve(grants.size());
  for (const grant_stamp& g : grants) all.push_back(g.at_ns);
  return all;
}

std::vector<std::int64_t> stamps_of(const std::vector<check::overlap>& overlaps) {
  std::vector<std::int64_t> all;
  for (const check::overlap& o : overlaps) all.push_back(o.at_ns);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

std::vector<fault_finding> judge_faults(const std::vector<faults::infliction>& inflicted,
                                        const findings& found, const config::job& job,
                                        features lock, const window& measured) {
  const auto plans = faults::read_faults(job.faults);
  const std::int64_t start_ns = measured.start_ns.load();
  const std::int64_t end_ns = measured.end_ns.load();
  std::vector<check::disruption> disruptions;
  for (const auto& i : inflicted) {
    const bool is_process = plans.at(i.plan).what->takes_time();
    disruptions.push_back(
        {to_ns(i.began), i.participant.has_value(), is_process ? i.lasted.count() : 0});
  }
  const auto after = check::find_aftermath(disruptions, stamps_of(found.grant_stamps),
                                           stamps_of(found.overlaps), end_ns);
  std::vector<fault_finding> all;
  for (std::size_t n = 0; n < inflicted.size(); ++n) {
    const faults::infliction& i = inflicted[n];
    const std::int64_t until_ns = n + 1 < disruptions.size() ? disruptions[n + 1].at_ns : end_ns;
    fault_finding f;
    f.kind = i.kind;
    f.text = i.text;
    f.at_s = static_cast<double>(disruptions[n].at_ns - start_ns) / 1e9;
    f.for_s = std::chrono::duration<double>(i.lasted).count();
    f.recovery_ns = after[n].recovery_ns;
    f.violations = after[n].violations;
    f.violations_among_others = among_others(i, found, job, disruptions[n].at_ns, until_ns);
    f.predicted = faults::predict(plans.at(i.plan), lock, job, held_by_then(i, found, job));
    if (f.predicted) {
      const auto took = f.recovery_ns ? std::optional{duration{*f.recovery_ns}} : std::nullopt;
      f.agrees = faults::agrees(*f.predicted, took, duration{end_ns - disruptions[n].at_ns});
    }
    all.push_back(std::move(f));
  }
  return all;
}

}  // namespace lockmark::run
