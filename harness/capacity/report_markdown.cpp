// The report for people, readable on a terminal and in a pull request: capacity.mustache, filled
// with what the report for programs has.
#include <fmt/format.h>

#include <cmath>

#include "harness/base/lists.hpp"
#include "harness/capacity/report.hpp"
#include "harness/report/markdown.hpp"
#include "harness/report/text.hpp"
#include "harness/templates/fill.hpp"

namespace lockmark::capacity {

extern const lockmark::templates::texts templates;

namespace {

using json = nlohmann::ordered_json;

std::string time_text(double s) {
  return report::duration_text(std::llround(std::max(0.0, s) * 1e9));
}

// Two digits: most shares are fractions of a percent, and their distance from 1 % matters.
std::string late_text(double v) {
  return v < 0.1 ? fmt::format("{:.2g} %", 100 * v) : fmt::format("{:.0f} %", 100 * v);
}

std::string estimate_text(const json& e) {
  const auto one = [](const json& t) {
    return (t.at("at_least") == true ? "> " : "") + time_text(t.at("s"));
  };
  return fmt::format("{} ({} to {})", one(e.at("value")), one(e.at("low")), one(e.at("high")));
}

std::string number_text(const std::string& format, double v) {
  if (format == "time") return time_text(v);
  if (format == "rate") return report::rate_text(v);
  if (format == "share") return report::share_text(v);
  if (format == "late") return late_text(v);
  if (format == "quantile") return quantile_name(v);
  if (format == "signed") return fmt::format("{:+.0f} %", 100 * v);
  if (format == "percent") return fmt::format("{:.0f} %", 100 * v);
  if (format == "2g") return fmt::format("{:.2g}", v);
  if (format == "3g") return fmt::format("{:.3g}", v);
  return fmt::format("{:.{}f}", v, format.at(1) - '0');
}

// "-" for what is unknown.
std::optional<std::string> formatted(const std::string& format, const json& value,
                                     const lockmark::templates::lookup&) {
  if (format == "safe") return report::markdown_text(value.get<std::string>());
  if (format == "list")
    return joined(value,
                  [](const json& run) { return fmt::format("`{}`", run.get<std::string>()); });
  if (format == "estimate") {
    return value.is_object() && value.at("value").is_object() ? estimate_text(value) : "-";
  }
  return value.is_number() && std::isfinite(value.get<double>()) ? number_text(format, value) : "-";
}

void add_to_probes(json& probes) {
  for (json& p : probes) {
    const json& quantiles = p.at("quantiles_of_last_run");
    for (std::size_t i = 0; i < p.at("late").size() && i < quantiles.size(); ++i) {
      p["late"][i]["quantile"] = quantiles[i];
    }
  }
}

// The last look at a rate includes the runs of all looks.
json runs_of_search(const json& probes) {
  json last = json::array();
  for (const json& p : probes) {
    if (p.at("look") > 1 && !last.empty()) last.erase(last.size() - 1);
    last.push_back(p);
  }
  return last;
}

void add_to_sweep(json& data) {
  data["random_arrivals_too"] = false;
  for (json& c : data.at("sweep")) {
    if (c.at("handoff_mean_s") == 0) c["handoff_mean_s"] = nullptr;
    if (!c.at("random_arrivals").is_null()) data["random_arrivals_too"] = true;
  }
}

}  // namespace

std::string to_markdown(const findings& r) {
  json data = to_json(r);
  const auto text = [](const json& objective) { return objective.get<std::string>(); };
  data["all_objectives"] = joined(data.at("objectives"), text, " and ");
  data["fair"] = r.what.fair;
  data["optimistic"] = r.what.optimistic;
  if (r.rate) data["operate_at"] = 0.8 * r.rate->value;
  data["limits"] = json::array();
  for (const objective& o : r.objectives) {
    data["limits"].push_back({{"q", o.quantile},
                              {"s", static_cast<double>(o.limit_ns) / 1e9},
                              {"allowed", o.allowed()}});
  }
  data["sure"] = 100 * (1 - rate_search::doubt);
  data["sure_confirming"] = 100 * (1 - rate_search::doubt_confirming);
  for (std::size_t i = 0; i < r.model.size(); ++i) {
    data["model"][i]["quantile"] = r.model[i].quantile;
  }
  for (std::size_t i = 0; i < r.cells.size(); ++i) {
    if (r.cells[i].open)
      data["sweep"][i]["random_arrivals"]["quantile"] = r.cells[i].open->quantile;
  }
  add_to_probes(data.at("probes"));
  data["runs_of_the_search"] = runs_of_search(data.at("probes"));
  add_to_sweep(data);
  return templates::filled({templates, templates::unchanged, formatted}, "capacity", data);
}

}  // namespace lockmark::capacity
