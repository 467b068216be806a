#include "harness/report/row.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include "harness/base/lists.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

std::string text_or_empty(const json& value) {
  return value.is_null() ? "" : value.get<std::string>();
}

message message_of(const json& m) {
  if (m.at("id").is_null()) return m.at("values").at(0).get<std::string>();
  return {m.at("id").get<std::string>(), m.at("values")};
}

// Older runs have the sentences only.
std::vector<message> reasons_of_verdict(const json& verdict) {
  std::vector<message> reasons;
  if (!verdict.contains("messages")) {
    for (const json& sentence : verdict.at("reasons")) {
      reasons.emplace_back(sentence.get<std::string>());
    }
    return reasons;
  }
  for (const json& m : verdict.at("messages")) reasons.push_back(message_of(m));
  return reasons;
}

// Runs before version 1.4 do not say it.
std::optional<message> why_untested(const json& verdict) {
  if (!verdict.contains("untested") || verdict.at("untested").is_null()) return std::nullopt;
  return message_of(verdict.at("untested"));
}

// Runs before version 1.5 have an extrapolation only.
message drift_of(const json& drifting) {
  if (!drifting.contains("first_p50_ns")) return {"drifting", {}};
  const auto first = time_of(drifting.at("first_p50_ns"));
  const auto last = time_of(drifting.at("last_p50_ns"));
  if (!first || !last) return {"drifting", {}};
  return {last->ns < first->ns ? "p50_fell" : "p50_rose", {time_text(first), time_text(last)}};
}

// The time taken out for the way to a client in a process of its own; with 0 it is not known.
std::optional<message> pipe_of(const json& durations) {
  if (!durations.contains("pipe")) return std::nullopt;
  const json& pipe = durations.at("pipe");
  if (pipe.at("count") == 0 || pipe.at("mean_ns") == 0) return std::nullopt;
  const std::string mean = time_text(pipe.at("mean_ns"));
  if (pipe.at("p99_ns").is_null()) return message{"pipe", {mean}};
  return message{"pipe_and_p99", {mean, time_text(pipe.at("p99_ns"))}};
}

// Below this share of the time, clients that share a key hardly contend for it.
constexpr double mostly_held = 0.7;

// Why a key that several clients want was not held most of the time.
std::optional<message> contention_of(const json& content) {
  const json& run = content.at("run");
  const json& handoff = content.at("handoff");
  const json& held = handoff.at("held_share");
  const json& idle = handoff.at("idle_while_wanted_share");
  const bool one_client = run.at("instances") == 1 && run.at("clients_per_instance") == 1;
  if (run.at("loop") != "closed" || run.at("keys") != 1 || one_client) return std::nullopt;
  if (!held.is_number() || !idle.is_number() || held > mostly_held) return std::nullopt;
  const bool by_handoffs = idle > (1 - held.get<double>()) / 2;
  return message{by_handoffs ? "held_less_by_handoffs" : "held_less_by_demand",
                 {share_text(held), share_text(idle)}};
}

std::vector<message> reasons_of(const json& content) {
  const json& run = content.at("run");
  const json& verdict = content.at("verdict");
  std::vector<message> reasons = reasons_of_verdict(verdict);
  if (!run.at("complete").get<bool>()) {
    const std::string why = text_or_empty(run.at("why"));
    const message first =
        why.empty() ? message{"incomplete", {}} : message{"incomplete_because", {why}};
    reasons.insert(reasons.begin(), first);
  }
  const json& drifting = verdict.at("drifting");
  if (drifting.at("drifts") == true) reasons.push_back(drift_of(drifting));
  // Added after the first version of the schema.
  const json& fairness = content.at("fairness");
  if (fairness.contains("starvation")) {
    for (const json& m : fairness.at("starvation")) reasons.push_back(message_of(m));
  }
  if (auto contention = contention_of(content)) reasons.push_back(std::move(*contention));
  const json& durations = content.at("durations");
  if (auto pipe = pipe_of(durations)) reasons.push_back(std::move(*pipe));
  return reasons;
}

// A longer network makes another row of the same lock.
std::string topology_of(const json& run) {
  const std::string name = run.at("topology");
  const auto rtt_ns = run.value("rtt_ns", std::int64_t{0});
  const auto jitter_ns = run.value("rtt_jitter_ns", std::int64_t{0});
  if (jitter_ns > 0) {
    return fmt::format("{} +{} to {}", name, duration_text(rtt_ns),
                       duration_text(rtt_ns + jitter_ns));
  }
  return rtt_ns == 0 ? name : fmt::format("{} +{}", name, duration_text(rtt_ns));
}

// Of the run's server, or of each of several.
std::string durability_of(const json& content) {
  std::vector<std::string> all;
  for (const auto& [name, value] : content.at("provenance").at("server").items()) {
    if (!name.starts_with("server.") || !name.ends_with(".durability")) continue;
    const std::string its = value;
    if (std::ranges::find(all, its) == all.end()) all.push_back(its);
  }
  return joined(all, {}, " / ");
}

row read_row(const json& content) {
  const json& run = content.at("run");
  const json& verdict = content.at("verdict");
  row r;
  r.lock = run.at("lock");
  r.topology = topology_of(run);
  r.implementation = text_or_empty(run.at("implementation")) + options_of(content);
  r.scenario = text_or_empty(run.at("scenario"));
  for (std::size_t i = 0; i < r.values.size(); ++i) {
    r.values[i] = read_figure(figures()[i], content);
  }
  r.safety_class = verdict.at("safety_class");
  r.durability = durability_of(content);
  r.at_rate = run.at("loop") != "closed";
  r.complete = run.at("complete");
  r.valid = r.complete && verdict.at("valid") == true;
  r.bound = r.valid && !verdict.at("bound").is_null();
  r.reasons = reasons_of(content);
  r.untested = why_untested(verdict);
  // If nothing was measured, the figures have that reason already.
  if (r.untested && r.untested->id != "untested_nothing") r.reasons.push_back(*r.untested);
  return r;
}

// Censored readings are known to be more than they say.
bool is_less(const reading& a, const reading& b) {
  return std::pair(a.censored, *a.value) < std::pair(b.censored, *b.value);
}

std::vector<reading> known_of(const std::vector<row>& repeats, std::size_t figure) {
  std::vector<reading> known;
  for (const row& r : repeats) {
    if (r.values[figure].value) known.push_back(r.values[figure]);
  }
  std::ranges::sort(known, is_less);
  return known;
}

void merge_figure(row& into, const std::vector<row>& repeats, std::size_t at) {
  const std::vector<reading> known = known_of(repeats, at);
  if (figures()[at].in == unit::count) {
    double sum = 0;
    for (const reading& r : known) sum += *r.value;
    into.values[at] = known.empty() ? reading{} : reading{sum};
    return;
  }
  // Without half of the runs, a median is of the lucky ones.
  if (2 * known.size() <= repeats.size()) {
    into.values[at].value.reset();
    return;
  }
  into.values[at] = known[known.size() / 2];
  if (!known.back().censored) into.intervals[at] = {*known.front().value, *known.back().value};
}

void add_reasons(std::vector<message>& to, const std::vector<message>& from) {
  for (const message& m : from) {
    const auto same = [&](const message& other) {
      return other.id == m.id && (!m.id.empty() || other.values == m.values);
    };
    if (std::ranges::none_of(to, same)) to.push_back(m);
  }
}

std::size_t place_of(std::string_view name) {
  return static_cast<std::size_t>(&known_figure(name) - figures().data());
}

}  // namespace

std::string options_of(const json& content) {
  std::vector<std::string> all;
  for (const auto& [name, value] : content.at("provenance").at("lock_options").items()) {
    all.push_back(fmt::format("{}={}", name, value.get<std::string>()));
  }
  return all.empty() ? "" : fmt::format(" [{}]", joined(all));
}

std::string name_with_options(const row& r) {
  const auto options = r.implementation.rfind(" [");
  return options == std::string::npos ? r.lock : r.lock + r.implementation.substr(options);
}

const std::optional<interval>& row::interval_of(const figure& f) const {
  static const std::optional<interval> none;
  return intervals.empty() ? none : intervals[place_of(f.name)];
}

const reading& row::operator[](std::string_view name) const {
  return values[place_of(name)];
}

reading& row::operator[](std::string_view name) {
  return values[place_of(name)];
}

std::uint64_t row::samples() const {
  // A run folder that is not ours may claim any number.
  constexpr double most = 0x1.fffffffffffffp63;
  const double claimed = (*this)["samples"].value.value_or(0);
  return claimed > 0 ? static_cast<std::uint64_t>(std::min(claimed, most)) : 0;
}

row row_of(const recorded_run& run) {
  row r = from_content(run, read_row);
  r.run = run.name;
  return r;
}

std::vector<row> by_backend(std::vector<row> rows, std::span<const std::string_view> backends) {
  const auto scenarios = distinct(rows, &row::scenario);
  const auto topologies = distinct(rows, &row::topology);
  const auto locks = distinct(rows, &row::lock);
  const auto place = [&](const row& r) {
    const std::string_view backend = std::string_view(r.lock).substr(0, r.lock.find('/'));
    return std::tuple(std::ranges::find(scenarios, r.scenario),
                      std::ranges::find(backends, backend), std::ranges::find(locks, r.lock),
                      std::ranges::find(topologies, r.topology));
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const row& a, const row& b) { return place(a) < place(b); });
  return rows;
}

namespace {

// The figure by which rows are compared, and how good it is: the less, the better.
const figure& ranked_by(const row& r) {
  if (r["recovery"].value) return known_figure("recovery");
  return known_figure(r.at_rate ? "p99" : "tps");
}

double slowness(const row& r, double value) {
  return ranked_by(r).is == better::less ? value : -value;
}

double slowness(const row& r) {
  const reading& read = r[ranked_by(r).name];
  constexpr double worst = std::numeric_limits<double>::infinity();
  return read.value && !read.censored ? slowness(r, *read.value) : worst;
}

}  // namespace

row merged(std::vector<row> repeats) {
  const std::size_t all = repeats.size();
  std::vector<std::string> names;
  for (const row& r : repeats) names.push_back(r.run);
  if (std::ranges::any_of(repeats, &row::valid)) {
    std::erase_if(repeats, [](const row& r) { return !r.valid; });
  }
  std::ranges::stable_sort(repeats, std::greater{}, [](const row& r) { return slowness(r); });
  row one = repeats[repeats.size() / 2];
  if (all == 1) return one;
  one.runs = std::move(names);
  one.intervals.resize(one.values.size());
  for (std::size_t i = 0; i < one.values.size(); ++i) merge_figure(one, repeats, i);
  one.bound = std::ranges::any_of(repeats, &row::bound);
  one.reasons.clear();
  for (const row& r : repeats) add_reasons(one.reasons, r.reasons);
  // One run that could have shown a violation is enough.
  if (!std::ranges::all_of(repeats, [](const row& r) { return r.untested.has_value(); })) {
    one.untested.reset();
    std::erase_if(one.reasons, [](const message& m) { return m.id.starts_with("untested_"); });
  }
  if (repeats.size() < all) {
    one.reasons.push_back(
        {"runs_left_out", {fmt::format("{}", all - repeats.size()), fmt::format("{}", all)}});
  }
  return one;
}

namespace {

// Without an interval for each of the rows of a scenario there are no ranks.
void rank_scenario(std::vector<row*> rows) {
  std::erase_if(rows, [](const row* r) { return !r->valid || r->bound; });
  const auto interval_of = [](const row* r) { return r->interval_of(ranked_by(*r)); };
  if (std::ranges::any_of(rows, [&](const row* r) { return !interval_of(r); })) return;
  const auto best = [&](const row* r) {
    return std::min(slowness(*r, interval_of(r)->low), slowness(*r, interval_of(r)->high));
  };
  const auto worst = [&](const row* r) {
    return std::max(slowness(*r, interval_of(r)->low), slowness(*r, interval_of(r)->high));
  };
  for (row* r : rows) {
    r->rank = 1 + static_cast<std::size_t>(std::ranges::count_if(
                      rows, [&](const row* other) { return worst(other) < best(r); }));
  }
}

}  // namespace

std::vector<row> ranked(std::vector<row> rows) {
  const auto scenarios = distinct(rows, &row::scenario);
  const auto place = [&](const row& r) {
    return std::tuple(std::ranges::find(scenarios, r.scenario), !r.valid, r.bound,
                      r.valid ? slowness(r) : 0.0);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const row& a, const row& b) { return place(a) < place(b); });
  for (const std::string& scenario : scenarios) {
    std::vector<row*> its;
    for (row& r : rows) {
      if (r.scenario == scenario) its.push_back(&r);
    }
    rank_scenario(std::move(its));
  }
  return rows;
}

}  // namespace lockmark::report
