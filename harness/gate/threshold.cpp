#include "harness/gate/threshold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/base/errors.hpp"
#include "harness/config/quantity.hpp"
#include "harness/report/text.hpp"
#include "harness/stats/confidence.hpp"

namespace lockmark::gate {
namespace {

using json = nlohmann::ordered_json;
using comparison = threshold::comparison;

enum class unit : std::uint8_t { time, rate, share, number };

struct figure {
  std::string_view name;
  unit of;
  double q = 0;  // of a quantile of the acquire
};

constexpr std::array figures{
    figure{"p50", unit::time, 0.5},      figure{"p90", unit::time, 0.9},
    figure{"p95", unit::time, 0.95},     figure{"p99", unit::time, 0.99},
    figure{"p99.9", unit::time, 0.999},  figure{"p99.99", unit::time, 0.9999},
    figure{"max", unit::time},           figure{"tps", unit::rate},
    figure{"success_rate", unit::share}, figure{"handoff_p50", unit::time},
    figure{"handoff_p99", unit::time},   figure{"commands", unit::number},
    figure{"round_trips", unit::number}, figure{"violations", unit::number}};

const figure* find(std::string_view name) {
  const auto* const at = std::ranges::find(figures, name, &figure::name);
  return at == figures.end() ? nullptr : at;
}

std::string known_figures() {
  std::string all;
  for (const figure& f : figures) all += fmt::format("{}{}", all.empty() ? "" : ", ", f.name);
  return all;
}

config::parsed<double> parse_limit(unit of, std::string_view text) {
  if (of == unit::time) {
    const auto time = config::parse_duration(text);
    if (!time) return time.error();
    return static_cast<double>(time->count());
  }
  if (of == unit::rate && text.find('/') != text.npos) {
    const auto rate = config::parse_rate(text);
    if (!rate) return rate.error();
    return rate->per_second();
  }
  const bool percent = of == unit::share && text.ends_with('%');
  const auto number = config::parse_number(percent ? text.substr(0, text.size() - 1) : text);
  if (!number) return number.error();
  return percent ? *number / 100 : *number;
}

std::string value_text(unit of, double value) {
  if (of == unit::time) return report::duration_text(std::llround(value));
  if (of == unit::rate) return fmt::format("{}/s", report::rate_text(value));
  if (of == unit::share) return report::share_text(value);
  return fmt::format("{:g}", value);
}

bool fails(comparison how, double value, double limit) {
  if (how == comparison::above) return value > limit;
  if (how == comparison::at_least) return value >= limit;
  if (how == comparison::below) return value < limit;
  return value <= limit;
}

bool is_upper(const threshold& t) {
  return t.fails_if == comparison::above || t.fails_if == comparison::at_least;
}

json quantile_of(const threshold& t, double q, const json& content) {
  for (const json& entry : content.at("quantiles").at("response").at("quantiles")) {
    if (entry.at("q").get<double>() != q) continue;
    if (entry.at("supported").get<bool>()) return entry.at("value_ns");
    throw usage_error(fmt::format("--fail {}: {} needs {} attempts, and the run had {}", t.text,
                                  t.figure, stats::samples_needed(q),
                                  report::whole_number(entry.at("n"))));
  }
  return {};
}

// As run.json has it: a number, "> N" or null.
json value_in(const threshold& t, const json& content) {
  const figure& f = *find(t.figure);
  if (f.q > 0) return quantile_of(t, f.q, content);
  if (f.name == "max") return content.at("quantiles").at("response").at("max_ns");
  if (f.name == "tps" || f.name == "success_rate") return content.at(std::string(f.name));
  const json& cost = content.at("cost_per_acquire");
  if (f.name == "commands") return cost.at("client_commands_per_grant");
  if (f.name == "round_trips") return cost.at("round_trips_per_grant");
  if (f.name == "violations") return content.at("verdict").at("violations");
  const json& transfer = content.at("handoff").at("transfer");
  if (transfer.is_null()) return {};
  return transfer.at(f.name == "handoff_p50" ? "p50_ns" : "p99_ns");
}

}  // namespace

config::parsed<threshold> parse_threshold(std::string_view text) {
  threshold t;
  t.text = text;
  std::erase(t.text, ' ');
  const auto at = t.text.find_first_of("<>");
  if (at == std::string::npos) {
    return config::expected("FIGURE, one of > >= < <=, and a value, such as p99>20ms", text);
  }
  t.figure = t.text.substr(0, at);
  const bool or_equal = t.text.substr(at + 1).starts_with('=');
  const bool more = t.text[at] == '>';
  t.fails_if = more       ? or_equal ? comparison::at_least : comparison::above
               : or_equal ? comparison::at_most
                          : comparison::below;
  const figure* const f = find(t.figure);
  if (f == nullptr) {
    return config::expected(fmt::format("one of {} before the operator", known_figures()),
                            t.figure);
  }
  const auto limit = parse_limit(f->of, std::string_view(t.text).substr(at + (or_equal ? 2 : 1)));
  if (!limit) return limit.error();
  t.limit = *limit;
  return t;
}

std::optional<std::string> broken_by(const threshold& t, const report::recorded_run& run) {
  const json value = value_in(t, run.content);
  if (value.is_null()) {
    throw usage_error(
        fmt::format("--fail {}: the run has no {}: nothing of the kind happens in this job with "
                    "this lock, or too seldom to tell",
                    t.text, t.figure));
  }
  const unit of = find(t.figure)->of;
  const bool censored = value.is_string();
  const double number =
      censored ? static_cast<double>(report::time_of(value)->ns) : value.get<double>();
  // What is only known to exceed its value is beyond every upper limit that it could be compared
  // with: the wait that it timed out after says that nobody may wait longer.
  const bool broken = censored ? is_upper(t) : fails(t.fails_if, number, t.limit);
  if (!broken) return std::nullopt;
  return fmt::format("{} was {}{}, and {} fails", t.figure, censored ? "> " : "",
                     value_text(of, number), t.text);
}

bool is_lost(const threshold& t, const run::live_view& so_far) {
  if (!is_upper(t)) return false;
  if (t.figure == "violations") {
    const std::uint64_t found =
        std::max(so_far.found.certain_violations, so_far.found.stale_tokens);
    return fails(t.fails_if, static_cast<double>(found), t.limit);
  }
  const figure& f = *find(t.figure);
  if (f.q == 0) return false;
  const stats::attempts all{so_far.totals[run::series::response],
                            static_cast<std::int64_t>(so_far.totals.counts.not_granted()),
                            so_far.known.job.wait.count()};
  const auto n = static_cast<double>(all.count());
  if (!stats::is_supported(f.q, all.count())) return false;
  const double low = f.q - 5 * std::sqrt(f.q * (1 - f.q) / n);
  if (low <= 0) return false;
  const stats::quantile_ns value = all.at_quantile(low);
  return fails(t.fails_if, static_cast<double>(value.value_ns), t.limit) || value.censored;
}

}  // namespace lockmark::gate
