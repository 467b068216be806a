#include "harness/report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "harness/base/lists.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view responses = "/quantiles/response/quantiles";
constexpr std::string_view commands_path = "/cost_per_acquire/client_commands_per_grant";

// The value at the pointer; null if a value on the way is null, or a list is too short.
const json& look_up(const json& content, std::string_view path, bool may_lack) {
  static const json none;
  const json* at = &content;
  while (!path.empty() && !at->is_null()) {
    path.remove_prefix(1);
    const std::string_view key = path.substr(0, path.find('/'));
    path.remove_prefix(key.size());
    if (at->is_array()) {
      std::size_t n = 0;
      std::from_chars(key.data(), key.data() + key.size(), n);
      at = n < at->size() ? &(*at)[n] : &none;
    } else if (may_lack && !at->contains(key)) {
      return none;
    } else {
      at = &at->at(std::string(key));
    }
  }
  return *at;
}

reading read_quantile(const figure& f, const json& list) {
  for (const json& entry : list) {
    if (entry.at("q").get<double>() != f.q) continue;
    if (!entry.at("supported").get<bool>()) return {.too_few = whole_number(entry.at("n"))};
    const auto time = time_of(entry.at("value_ns"));
    if (!time) return {};
    return {static_cast<double>(time->ns), time->censored};
  }
  return {};
}

// Commands of all clients: grants times the cost of each.
reading commands_per_second(const json& content) {
  const reading tps = read_figure(known_figure("tps"), content);
  const reading each = read_figure(known_figure("commands"), content);
  if (!tps.value || !each.value) return {};
  return {*tps.value * *each.value};
}

// After the first fault of the run; without a further grant, longer than the run saw.
reading recovery(const json& content) {
  if (!content.contains("faults") || content.at("faults").empty()) return {};
  const json& fault = content.at("faults").front();
  if (const json& took = fault.at("recovery_ns"); !took.is_null()) return {took.get<double>()};
  const double seen_s =
      content.at("run").at("window_s").get<double>() - fault.at("at_s").get<double>();
  return {.value = seen_s * 1e9, .censored = true};
}

constexpr std::array registry{
    figure{.name = "success_rate",
           .words = "success",
           .in = unit::share,
           .is = better::more,
           .path = "/success_rate",
           .column = {"success", "获取成功率", "", 6},
           .csv = "success_rate",
           .json = "/success_rate",
           .gate = {"success_rate", 0.005, 4}},
    figure{.name = "tps",
           .words = "grants per second",
           .in = unit::rate,
           .is = better::more,
           .path = "/tps",
           .column = {"TPS", "TPS", "", always_shown},
           .csv = "tps",
           .json = "/tps",
           .chart = {"Throughput",
                     "Grants per second. Pale: a bound, the lock can do at least that. Striped: "
                     "INVALID or incomplete, not to be compared.",
                     "grants per second"},
           .gate = {"throughput", 0.05, 3}},
    figure{.name = "samples",
           .words = "attempts",
           .in = unit::count,
           .path = "/samples",
           .column = {"samples", "样本数", "", 3},
           .csv = "samples",
           .json = "/samples"},
    figure{.name = "p50",
           .words = "p50 of an acquire",
           .in = unit::time,
           .is = better::less,
           .path = responses,
           .q = 0.5,
           .column = {"p50", "p50", "", 10},
           .csv = "p50_ns",
           .json = "/acquire_ns/p50",
           .gate = {"acquire_p50", 0.05, 1}},
    figure{.name = "p90",
           .words = "p90 of an acquire",
           .in = unit::time,
           .is = better::less,
           .path = responses,
           .q = 0.9,
           .csv = "p90_ns",
           .json = "/acquire_ns/p90"},
    figure{.name = "p95",
           .words = "p95 of an acquire",
           .in = unit::time,
           .is = better::less,
           .path = responses,
           .q = 0.95},
    figure{.name = "p99",
           .words = "p99 of an acquire",
           .in = unit::time,
           .is = better::less,
           .path = responses,
           .q = 0.99,
           .column = {"p99", "p99", "", 12},
           .csv = "p99_ns",
           .json = "/acquire_ns/p99",
           .gate = {"acquire_p99", 0.10, 2}},
    figure{.name = "p99.9",
           .words = "p99.9 of an acquire",
           .in = unit::time,
           .is = better::less,
           .path = responses,
           .q = 0.999,
           .column = {"p99.9", "p99.9", "", 4},
           .csv = "p999_ns",
           .json = "/acquire_ns/p999"},
    figure{.name = "p99.99",
           .words = "p99.99 of an acquire",
           .in = unit::time,
           .is = better::less,
           .path = responses,
           .q = 0.9999},
    figure{.name = "max",
           .words = "longest acquire",
           .in = unit::time,
           .is = better::less,
           .path = "/quantiles/response/max_ns",
           .csv = "max_ns",
           .json = "/acquire_ns/max"},
    figure{.name = "handoff_p50",
           .words = "p50 of a hand-off",
           .in = unit::time,
           .is = better::less,
           .path = "/handoff/transfer/p50_ns",
           .column = {"hand-off", "交接", "", 9},
           .csv = "handoff_p50_ns",
           .json = "/handoff_ns",
           .tile = {"Hand-off p50", "to another client"},
           .gate = {"handoff_p50", 0.10, 5}},
    figure{.name = "handoff_p99",
           .words = "p99 of a hand-off",
           .in = unit::time,
           .is = better::less,
           .path = "/handoff/transfer/p99_ns"},
    figure{.name = "held",
           .words = "share of the time that keys were held",
           .in = unit::share,
           .path = "/handoff/held_share"},
    figure{.name = "owner_changes",
           .words = "grants to another client than the last",
           .in = unit::share,
           .path = "/fairness/owner_change_share"},
    figure{.name = "fairness",
           .words = "Jain's index in short windows",
           .in = unit::number,
           .is = better::more,
           .path = "/fairness/jain_windowed",
           .column = {"fairness", "公平性", "fair", 11},
           .csv = "fairness",
           .json = "/fairness",
           .tile = {"Fairness", "Jain in short windows; 1 is even"},
           .chart = {"Fairness",
                     "Jain's index of grants per client in short windows: 1 is even, 1/clients is "
                     "one client only.",
                     "Jain's index", 1}},
    figure{.name = "worst_success",
           .words = "success of the worst client",
           .in = unit::share,
           .is = better::more,
           .path = "/fairness/worst_success/rate",
           .younger = true,
           .column = {"worst success", "最差客户端成功率", "worst ok", 7},
           .csv = "worst_success",
           .json = "/worst_client/success_rate",
           .tile = {"Worst client", "success; all clients together hide it"}},
    figure{.name = "worst_p99",
           .words = "p99 of an acquire, of the worst client",
           .in = unit::time,
           .is = better::less,
           .path = "/fairness/worst_response/quantiles",
           .q = 0.99,
           .younger = true,
           .csv = "worst_p99_ns",
           .json = "/worst_client/p99_ns",
           .tile = {"Worst client p99", "of all its attempts"}},
    figure{.name = "commands",
           .words = "commands per grant",
           .in = unit::number,
           .is = better::less,
           .path = commands_path,
           .column = {"commands", "命令数", "", 5},
           .csv = "commands_per_acquire",
           .json = "/commands_per_acquire",
           .tile = {"Commands", "per grant"},
           .chart = {"Cost per acquire", "Commands that the clients sent.", "commands per grant"},
           .gate = {"commands_per_acquire", 0.05, 6, true}},
    // Clients in processes of their own are counted by the server alone.
    figure{.name = "server_commands",
           .words = "commands per grant, as the server counts them",
           .in = unit::number,
           .is = better::less,
           .path = "/cost_per_acquire/server_commands_per_grant",
           .younger = true,
           .column = {"server commands", "服务器命令数", "srv cmds", 4, true},
           .csv = "server_commands_per_acquire",
           .json = "/server_commands_per_acquire"},
    figure{.name = "round_trips",
           .words = "round trips per grant",
           .in = unit::number,
           .is = better::less,
           .path = "/cost_per_acquire/round_trips_per_grant",
           .gate = {"round_trips_per_acquire", 0.05, 7, true}},
    figure{.name = "wakeups",
           .words = "clients woken per grant",
           .in = unit::number,
           .is = better::less,
           .path = "/cost_per_acquire/wakeups_per_grant"},
    figure{.name = "commands_per_second",
           .words = "commands per second",
           .in = unit::rate,
           .is = better::less,
           .computed = commands_per_second},
    figure{.name = "violations",
           .words = "violations",
           .in = unit::count,
           .is = better::less,
           .path = "/verdict/violations",
           .column = {"violations", "违例", "viol.", always_shown},
           .of_verdict = true,
           .csv = "violations",
           .json = "/violations"},
    figure{.name = "overlaps_among_others",
           .words = "overlaps without the hold that was paused",
           .in = unit::count,
           .is = better::less,
           .path = "/faults/0/violations_among_others",
           .younger = true},
    figure{.name = "late_writes_refused",
           .words = "late writes that the fence refuses",
           .in = unit::count,
           .path = "/safety/guard/stale_accesses",
           .younger = true},
    figure{.name = "misjudged_without_order",
           .words = "writes that a token without order misjudges",
           .in = unit::count,
           .is = better::less,
           .path = "/safety/guard/misjudged_without_order",
           .younger = true},
    figure{.name = "recovery",
           .words = "time to the next grant",
           .in = unit::time,
           .is = better::less,
           .younger = true,
           .computed = recovery,
           .column = {"next grant", "下次获取", "", 8, true},
           .csv = "recovery_ns",
           .json = "/recovery_ns"},
    figure{.name = "longest_gap",
           .words = "longest time without a grant",
           .in = unit::time,
           .is = better::less,
           .path = "/longest_gap/length_ns",
           .younger = true},
};

}  // namespace

std::span<const figure> figures() {
  return registry;
}

const figure* find_figure(std::string_view name) {
  const auto* const at = std::ranges::find(registry, name, &figure::name);
  return at == registry.end() ? nullptr : at;
}

const figure& known_figure(std::string_view name) {
  const figure* const found = find_figure(name);
  if (found == nullptr) throw std::logic_error(fmt::format("there is no figure {}", name));
  return *found;
}

std::string figure_names() {
  return joined(registry, &figure::name);
}

reading read_figure(const figure& f, const json& content) {
  if (f.computed != nullptr) return f.computed(content);
  const json& value = look_up(content, f.path, f.younger);
  if (f.q > 0) return read_quantile(f, value);
  if (value.is_null()) return {};
  if (f.in == unit::count) return {static_cast<double>(whole_count(value))};
  if (f.in != unit::time) return {value.get<double>()};
  const auto time = time_of(value);
  return {static_cast<double>(time->ns), time->censored};
}

std::string cell_text(const figure& f, const reading& r, bool bound) {
  if (!r.value) return "-";
  switch (f.in) {
    case unit::time: return time_text(time_value{std::llround(*r.value), r.censored}, bound);
    case unit::rate: return fmt::format("{}{}", bound ? ">= " : "", rate_text(*r.value));
    case unit::share:
    case unit::number:
    case unit::count: return value_text(f, *r.value);
  }
  return "?";
}

std::string value_text(const figure& f, double value, int decimals) {
  switch (f.in) {
    case unit::time: return duration_text(std::llround(value));
    case unit::rate: return fmt::format("{}/s", rate_text(value));
    case unit::share: return share_text(value);
    case unit::number: return fmt::format("{:.{}f}", value, decimals);
    case unit::count: return fmt::format("{:.0f}", value);
  }
  return "?";
}

json value_json(const figure& f, const reading& r) {
  if (!r.value) return {};
  if (r.censored) return fmt::format("> {:.0f}", *r.value);
  if (f.in == unit::time || f.in == unit::count) return std::llround(*r.value);
  return *r.value;
}

}  // namespace lockmark::report
