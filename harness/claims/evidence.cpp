#include "harness/claims/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/report/text.hpp"

namespace lockmark::claims {
namespace {

using json = nlohmann::ordered_json;

bool is_complete(const report::recorded_run& r) {
  return r.content.at("run").at("complete") == true;
}

std::optional<figure> sorted(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return figure{std::move(values)};
}

using number = std::optional<double>;

number at(const json& run, const char* pointer) {
  const json::json_pointer where(pointer);
  if (!run.contains(where) || !run.at(where).is_number()) return std::nullopt;
  return run.at(where).get<double>();
}

number response(const json& run, double q) {
  for (const json& entry : run.at("quantiles").at("response").at("quantiles")) {
    if (entry.at("q") != q) continue;
    const auto value = report::time_of(entry.at("value_ns"));
    return value ? number(static_cast<double>(value->ns)) : std::nullopt;
  }
  return std::nullopt;
}

constexpr const char* commands_per_grant = "/cost_per_acquire/client_commands_per_grant";

// What all clients sent: by the grants and what each of them cost.
number commands_per_second(const json& run) {
  const number tps = at(run, "/tps");
  const number each = at(run, commands_per_grant);
  return tps && each ? number(*tps * *each) : std::nullopt;
}

enum class unit { per_second, nanoseconds, share, plain };

struct known_figure {
  std::string_view name;
  std::string_view words;
  unit in;
  number (*of)(const json& run);
};

const std::array<known_figure, 11>& known_figures() {
  static const std::array<known_figure, 11> all{{
      {"tps", "grants per second", unit::per_second, [](const json& r) { return at(r, "/tps"); }},
      {"success_rate", "success", unit::share,
       [](const json& r) { return at(r, "/success_rate"); }},
      {"commands_per_grant", "commands per grant", unit::plain,
       [](const json& r) { return at(r, commands_per_grant); }},
      {"wakeups_per_grant", "clients woken per grant", unit::plain,
       [](const json& r) { return at(r, "/cost_per_acquire/wakeups_per_grant"); }},
      {"recovery", "time to the next grant", unit::nanoseconds,
       [](const json& r) { return at(r, "/faults/0/recovery_ns"); }},
      {"longest_gap", "longest time without a grant", unit::nanoseconds,
       [](const json& r) { return at(r, "/longest_gap/length_ns"); }},
      {"overlaps_among_others", "overlaps without the hold that was paused", unit::plain,
       [](const json& r) { return at(r, "/faults/0/violations_among_others"); }},
      {"late_writes_refused", "late writes that the fence refuses", unit::plain,
       [](const json& r) { return at(r, "/safety/guard/stale_accesses"); }},
      {"response_p50", "p50 of an acquire", unit::nanoseconds,
       [](const json& r) { return response(r, 0.5); }},
      {"response_p99", "p99 of an acquire", unit::nanoseconds,
       [](const json& r) { return response(r, 0.99); }},
      {"commands_per_second", "commands per second", unit::per_second, commands_per_second},
  }};
  return all;
}

const known_figure* find(std::string_view name) {
  const auto* found = std::ranges::find(known_figures(), name, &known_figure::name);
  return found == known_figures().end() ? nullptr : found;
}

std::string one(double value, unit u) {
  switch (u) {
    case unit::per_second: return fmt::format("{}/s", report::rate_text(value));
    case unit::nanoseconds: return report::duration_text(static_cast<std::int64_t>(value));
    case unit::share: return report::share_text(value);
    case unit::plain: return fmt::format("{:.3g}", value);
  }
  return "?";
}

}  // namespace

bool is_figure(std::string_view name) {
  return find(name) != nullptr;
}

std::vector<std::string_view> figure_names() {
  std::vector<std::string_view> names;
  for (const known_figure& f : known_figures()) names.push_back(f.name);
  return names;
}

std::string_view words_for(std::string_view name) {
  return find(name)->words;
}

std::string show(const figure& f, std::string_view name) {
  const unit u = find(name)->in;
  if (f.values.size() == 1) return one(f.median(), u);
  return fmt::format("{} ({} to {})", one(f.median(), u), one(f.least(), u), one(f.most(), u));
}

double figure::median() const {
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

const std::vector<report::recorded_run>& evidence::of_label(std::string_view label) const {
  static const std::vector<report::recorded_run> none;
  const auto found = runs_.find(label);
  return found == runs_.end() ? none : found->second;
}

std::optional<figure> evidence::of(std::string_view label, std::string_view name) const {
  std::vector<double> values;
  for (const auto& r : of_label(label)) {
    if (!is_complete(r)) continue;
    const number value = find(name)->of(r.content);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return sorted(std::move(values));
}

std::uint64_t evidence::violated_runs(std::string_view label) const {
  const auto& all = of_label(label);
  return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [](const auto& r) {
    const json& found = r.content.at("verdict").at("violations");
    return found.is_number() && found > 0;
  }));
}

std::uint64_t evidence::runs(std::string_view label) const {
  return of_label(label).size();
}

std::uint64_t evidence::never_recovered(std::string_view label) const {
  const auto& all = of_label(label);
  return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [](const auto& r) {
    const auto faults = r.content.find("faults");
    return faults != r.content.end() && !faults->empty() &&
           faults->back().at("recovery_ns").is_null();
  }));
}

order compare(const figure& a, const figure& b) {
  if (a.most() < b.least()) return order::below;
  if (a.least() > b.most()) return order::above;
  return order::unclear;
}

}  // namespace lockmark::claims
