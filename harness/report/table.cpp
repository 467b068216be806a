#include "harness/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "harness/base/lists.hpp"
#include "harness/report/columns.hpp"
#include "harness/report/markdown.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

using field = std::pair<std::string_view, json>;

void add_csv(std::vector<field>& fields, const row& r, bool of_verdict) {
  for (const figure& f : figures()) {
    if (f.csv.empty() || f.of_verdict != of_verdict) continue;
    fields.emplace_back(f.csv, value_json(f, r[f.name]));
  }
}

std::vector<field> csv_fields(const row& r) {
  std::vector<field> fields{{"lock", r.lock},
                            {"topology", r.topology},
                            {"implementation", r.implementation},
                            {"scenario", r.scenario}};
  add_csv(fields, r, false);
  fields.emplace_back("safety_class", r.safety_class);
  fields.emplace_back("durability", r.durability.empty() ? json() : json(r.durability));
  add_csv(fields, r, true);
  fields.emplace_back("valid", r.valid);
  fields.emplace_back("bound", r.bound);
  fields.emplace_back("complete", r.complete);
  fields.emplace_back("reasons", fmt::format("{}", fmt::join(texts_of(r.reasons), "; ")));
  fields.emplace_back("run", r.run);
  fields.emplace_back("runs", r.runs.empty() ? 1 : r.runs.size());
  const std::optional<interval>& tps = r.interval_of(known_figure("tps"));
  fields.emplace_back("tps_low", tps ? json(tps->low) : json());
  fields.emplace_back("tps_high", tps ? json(tps->high) : json());
  fields.emplace_back("rank", r.rank ? json(*r.rank) : json());
  return fields;
}

void add_json(json& one, const row& r, bool of_verdict) {
  for (const figure& f : figures()) {
    if (f.json.empty() || f.of_verdict != of_verdict) continue;
    one[json::json_pointer(std::string(f.json))] = value_json(f, r[f.name]);
  }
}

void add_repeats(json& one, const row& r) {
  one["runs"] = r.runs;
  one["rank"] = r.rank ? json(*r.rank) : json();
  json& all = one["intervals"] = json::object();
  for (const figure& f : figures()) {
    const std::optional<interval>& i = r.interval_of(f);
    if (i && !f.csv.empty()) all[std::string(f.csv)] = {i->low, i->high};
  }
}

std::string overview_lines(const std::vector<row>& rows, const std::string& scenario,
                           const std::vector<std::string>& topologies) {
  std::vector<row> its;
  std::ranges::copy_if(rows, std::back_inserter(its),
                       [&](const row& r) { return r.scenario == scenario; });
  const figure& tps = known_figure("tps");
  std::string text;
  for (const std::string& lock : distinct(its, name_with_options)) {
    text += fmt::format("| {} |", markdown_text(lock));
    for (const std::string& topology : topologies) {
      const auto cell = std::ranges::find_if(its, [&](const row& r) {
        return r.topology == topology && name_with_options(r) == lock;
      });
      text += fmt::format(" {} |",
                          cell == its.end() ? "-" : cell_text(tps, (*cell)[tps.name], cell->bound));
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string table_markdown(const std::vector<row>& rows, language in) {
  footnotes notes(in);
  const std::vector<column> shown = columns(rows, in);
  std::string head = "|", rule = "|", body;
  for (const column& c : shown) {
    head += fmt::format(" {} |", c.head);
    rule += c.left_aligned ? " --- |" : " ---: |";
  }
  for (const row& r : rows) {
    body += "|";
    for (const column& c : shown) {
      body += fmt::format(" {}{} |", markdown_text(c.text(r)), c.has_notes ? notes.mark(r) : "");
    }
    body += "\n";
  }
  std::string text = fmt::format("{}\n{}\n{}\n", head, rule, body);
  for (const std::string_view line : legends_of(rows, intervals::all)) {
    text += fmt::format("{}\n", translated(line, in));
  }
  if (!notes.all().empty()) text += "\n";
  for (std::size_t n = 0; n < notes.all().size(); ++n) {
    text += fmt::format("{}. {}\n", n + 1, markdown_text(notes.all()[n]));
  }
  return text;
}

std::string table_csv(const std::vector<row>& rows) {
  std::string text = joined(csv_fields(row{}), &field::first, ",") + "\r\n";
  const auto cell = [](const field& f) { return csv_cell(f.second); };
  for (const row& r : rows) text += joined(csv_fields(r), cell, ",") + "\r\n";
  return text;
}

std::string table_json(const std::vector<row>& rows) {
  json all = json::array();
  for (const row& r : rows) {
    json one{{"lock", r.lock}, {"topology", r.topology}, {"scenario", r.scenario}};
    add_json(one, r, false);
    one["safety_class"] = r.safety_class;
    one["durability"] = r.durability.empty() ? json() : json(r.durability);
    add_json(one, r, true);
    one["valid"] = r.valid;
    one["reasons"] = texts_of(r.reasons);
    one["bound"] = r.bound;
    one["run"] = r.run;
    if (!r.runs.empty()) add_repeats(one, r);
    all.push_back(std::move(one));
  }
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string overview_markdown(const std::vector<row>& rows, language in) {
  const auto topologies = distinct(rows, &row::topology);
  std::string text;
  for (const std::string& scenario : distinct(rows, &row::scenario)) {
    const std::string title = text_of({"tps_by_lock", {translated(scenario, in)}}, in);
    text += fmt::format("**{}**\n\n| {} |", title, translated("lock", in));
    for (const std::string& t : topologies) text += fmt::format(" {} |", t);
    text += "\n| --- |";
    for (std::size_t i = 0; i < topologies.size(); ++i) text += " ---: |";
    text += "\n" + overview_lines(rows, scenario, topologies) + "\n";
  }
  return text + translated("-: the lock does not run there.", in) + "\n";
}

}  // namespace lockmark::report
