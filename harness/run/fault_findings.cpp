#include "harness/run/fault_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/check/aftermath.hpp"
#include "harness/config/quantity.hpp"
#include "harness/faults/kind.hpp"

namespace lockmark::run {
namespace {

// Instances are dealt to participants in turn (run/worker.hpp), clients to instances in blocks.
bool was_hit(const faults::infliction& i, std::uint32_t client, const config::job& job) {
  if (!i.participant) return false;
  return client / job.clients % job.participants == *i.participant;
}

// The last grant to an affected client whose hold was open then. A grant of the key to another
// client ended it.
std::optional<check::grant_stamp> held_by_then(const faults::infliction& i, const findings& found,
                                               const config::job& job) {
  std::optional<check::grant_stamp> held;
  for (const check::grant_stamp& g : found.grant_stamps) {
    if (g.at_ns > to_ns(i.began)) break;
    if (held && held->key == g.key) held.reset();
    if (was_hit(i, g.client, job) && g.released_ns > to_ns(i.began)) held = g;
  }
  return held;
}

// A hold granted to the victim after the disruption is a hold like any other.
bool is_of_the_hold_that_was_hit(const faults::infliction& i, const findings& found,
                                 const config::job& job, const check::overlap& o) {
  if (!was_hit(i, o.first_client, job)) return false;
  return std::none_of(
      found.grant_stamps.begin(), found.grant_stamps.end(), [&](const check::grant_stamp& g) {
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

std::vector<std::int64_t> stamps_of(const std::vector<check::overlap>& overlaps) {
  std::vector<std::int64_t> all;
  for (const check::overlap& o : overlaps) all.push_back(o.at_ns);
  std::sort(all.begin(), all.end());
  return all;
}

// A key may have been free for long when somebody asked for it.
void widen(faults::prediction& p, duration asked) {
  if (!p.most || asked <= *p.most) return;
  p.most = asked;
  p.why +=
      fmt::format(", and nobody asked for it for {}",
                  config::print_duration(std::chrono::round<std::chrono::milliseconds>(asked)));
}

}  // namespace

std::vector<fault_finding> judge_faults(const std::vector<faults::infliction>& inflicted,
                                        const findings& found, const config::job& job,
                                        features lock, const window& measured,
                                        const description& server) {
  const auto plans = faults::read_faults(job.faults);
  const auto servers = faults::session_settings_of(server);
  const std::int64_t start_ns = measured.start_ns.load();
  const std::int64_t end_ns = measured.end_ns.load();
  std::vector<check::disruption> disruptions;
  std::vector<std::optional<check::grant_stamp>> held;
  for (const auto& i : inflicted) {
    const bool is_process = plans.at(i.plan).what->takes_time();
    held.push_back(held_by_then(i, found, job));
    disruptions.push_back({to_ns(i.began), i.participant.has_value(),
                           is_process ? i.lasted.count() : 0,
                           held.back() ? std::optional{held.back()->key} : std::nullopt,
                           job.keys.kind == config::key_choice::shape::own});
  }
  const auto after = check::find_aftermath(disruptions, found.grant_stamps, found.unserved,
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
    f.keys = after[n].keys;
    f.keys_never = after[n].keys_never;
    f.violations = after[n].violations;
    f.violations_among_others = among_others(i, found, job, disruptions[n].at_ns, until_ns);
    std::optional<duration> held_for;
    if (held[n]) held_for = duration{disruptions[n].at_ns - held[n]->at_ns};
    f.predicted = faults::predict(plans.at(i.plan), lock, job, held_for, servers);
    if (f.predicted) {
      widen(*f.predicted, duration{after[n].asked_ns});
      const auto took = f.recovery_ns ? std::optional{duration{*f.recovery_ns}} : std::nullopt;
      f.agrees = faults::agrees(*f.predicted, took, duration{end_ns - disruptions[n].at_ns});
    }
    all.push_back(std::move(f));
  }
  return all;
}

}  // namespace lockmark::run
