#include "harness/gate/threshold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/errors.hpp"
#include "harness/config/quantity.hpp"
#include "harness/report/figures.hpp"
#include "harness/stats/confidence.hpp"

namespace lockmark::gate {
namespace {

using comparison = threshold::comparison;

using report::unit;

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

bool fails(comparison how, double value, double limit) {
  if (how == comparison::above) return value > limit;
  if (how == comparison::at_least) return value >= limit;
  if (how == comparison::below) return value < limit;
  return value <= limit;
}

comparison opposite(comparison how) {
  if (how == comparison::above) return comparison::at_most;
  if (how == comparison::at_least) return comparison::below;
  if (how == comparison::below) return comparison::at_least;
  return comparison::above;
}

bool is_upper(const threshold& t) {
  return t.fails_if == comparison::above || t.fails_if == comparison::at_least;
}

// A quantile of the attempts of all clients together.
bool is_of_all(const report::figure& f) {
  return f.path == report::known_figure("p50").path;
}

}  // namespace

config::parsed<threshold> parse_threshold(std::string_view text, bool required) {
  threshold t;
  t.required = required;
  t.text = text;
  std::erase(t.text, ' ');
  const auto at = t.text.find_first_of("<>");
  if (at == std::string::npos) {
    return config::expected(fmt::format("FIGURE, one of > >= < <=, and a value, such as p99{}20ms",
                                        required ? '<' : '>'),
                            text);
  }
  t.figure = t.text.substr(0, at);
  const bool or_equal = t.text.substr(at + 1).starts_with('=');
  const bool more = t.text[at] == '>';
  t.fails_if = more       ? or_equal ? comparison::at_least : comparison::above
               : or_equal ? comparison::at_most
                          : comparison::below;
  if (required) t.fails_if = opposite(t.fails_if);
  const report::figure* const f = report::find_figure(t.figure);
  if (f == nullptr) {
    return config::expected(fmt::format("one of {} before the operator", report::figure_names()),
                            t.figure);
  }
  const auto limit = parse_limit(f->in, std::string_view(t.text).substr(at + (or_equal ? 2 : 1)));
  if (!limit) return limit.error();
  t.limit = *limit;
  return t;
}

std::optional<std::string> broken_by(const threshold& t, const report::recorded_run& run) {
  const report::figure& f = report::known_figure(t.figure);
  const report::reading r = report::read_figure(f, run.content);
  if (r.too_few) {
    throw usage_error("{} {}: {} needs {} attempts, and {} had {}", t.option(), t.text, t.figure,
                      stats::samples_needed(f.q), is_of_all(f) ? "the run" : "that client",
                      *r.too_few);
  }
  if (!r.value) {
    throw usage_error(
        "{} {}: the run has no {}: nothing of the kind happens in this job with "
        "this lock, or too seldom to tell",
        t.option(), t.text, t.figure);
  }
  // A censored value breaks every upper limit it can be compared with: the time-out that censored
  // it shows that no wait may be longer.
  const bool broken = r.censored ? is_upper(t) : fails(t.fails_if, *r.value, t.limit);
  if (!broken) return std::nullopt;
  return fmt::format("{} was {}{}, and {} {}", t.figure, r.censored ? "> " : "",
                     report::value_text(f, *r.value), t.text, t.required ? "is required" : "fails");
}

bool is_lost(const threshold& t, const run::live_view& so_far) {
  if (!is_upper(t)) return false;
  if (t.figure == "violations") {
    const std::uint64_t found =
        std::max(so_far.found.certain_violations, so_far.found.stale_tokens);
    return fails(t.fails_if, static_cast<double>(found), t.limit);
  }
  const report::figure& f = report::known_figure(t.figure);
  if (!is_of_all(f)) return false;
  const stats::attempts all =
      so_far.totals.all_attempts(run::series::response, so_far.known.job.wait);
  const auto n = static_cast<double>(all.count());
  if (!stats::is_supported(f.q, all.count())) return false;
  const double low = f.q - 5 * std::sqrt(f.q * (1 - f.q) / n);
  if (low <= 0) return false;
  const stats::quantile_ns value = all.at_quantile(low);
  return fails(t.fails_if, static_cast<double>(value.value_ns), t.limit) || value.censored;
}

}  // namespace lockmark::gate
