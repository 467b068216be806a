#include "harness/report/closing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/base/lists.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

constexpr double even_fairness = 0.9;
constexpr double even_spread = 4;          // p99 over p50
constexpr double even_worst_client = 0.9;  // its success, over everybody's

// Of the sentences that praise or describe; what is wrong is told of every row.
constexpr std::size_t most_names = 6;

// Unset: not known.
std::optional<bool> is_fair(const row& r) {
  const auto& fairness = r["fairness"].value;
  return fairness ? std::optional(*fairness >= even_fairness) : std::nullopt;
}

std::optional<double> spread_of(const row& r) {
  const reading &p50 = r["p50"], &p99 = r["p99"];
  if (!p50.value || !p99.value || p50.censored || *p50.value <= 0) return std::nullopt;
  return *p99.value / *p50.value;
}

std::optional<bool> is_narrow(const row& r) {
  const auto spread = spread_of(r);
  if (!spread) return std::nullopt;
  if (*spread > even_spread) return false;
  return r["p99"].censored ? std::nullopt : std::optional(true);
}

std::optional<bool> serves_the_worst(const row& r) {
  const auto &worst = r["worst_success"].value, &all = r["success_rate"].value;
  if (!worst || !all) return std::nullopt;
  return *worst >= even_worst_client * *all;
}

bool is_violated(const row& r) {
  return r["violations"].value.value_or(0) > 0;
}

// The id of the sentence that a row is named in.
std::string_view place_of(const row& r, bool ranks_differ, bool dies) {
  if (is_violated(r)) return "closing_violated";
  if (!r.valid) return "closing_invalid";
  if (r.untested) return "closing_untested";
  if (r.safety_class == "none") return "closing_no_safety";
  if (r.bound) return "closing_bounds";
  const bool fast = ranks_differ && r.rank == 1U;
  if (dies) return fast ? "closing_soonest" : "";
  switch (waits_of(r)) {
    case waits::even: return fast ? "closing_fast_even" : "closing_even";
    case waits::uneven: return fast ? "closing_fast_uneven" : "closing_uneven";
    case waits::unknown: return "closing_unknown";
  }
  return "";
}

// In the order of the sentences, and whether all rows are named.
struct sentence_place {
  std::string_view id;
  bool all = false;
};
constexpr std::array places{
    sentence_place{"closing_soonest"},       sentence_place{"closing_fast_even"},
    sentence_place{"closing_even"},          sentence_place{"closing_fast_uneven"},
    sentence_place{"closing_uneven"},        sentence_place{"closing_unknown"},
    sentence_place{"closing_no_safety"},     sentence_place{"closing_bounds"},
    sentence_place{"closing_untested"},      sentence_place{"closing_violated", true},
    sentence_place{"closing_invalid", true},
};

std::string with_figures(const row& r, const std::string& name, language in) {
  const auto spread = spread_of(r);
  const std::string times =
      spread ? fmt::format("{}{:.1f}", r["p99"].censored ? "> " : "", *spread) : "-";
  return text_of(
      {"closing_figures", {name, cell_text(known_figure("fairness"), r["fairness"]), times}}, in);
}

std::string listed(std::vector<std::string> names, bool all, language in) {
  const std::size_t more = all || names.size() <= most_names ? 0 : names.size() - most_names;
  names.resize(names.size() - more);
  std::string text = joined(names, {}, in == language::chinese ? "、" : ", ");
  if (more > 0) text = text_of({"closing_more", {text, fmt::format("{}", more)}}, in);
  return text;
}

// The names of a scenario's rows by the sentence they belong to.
std::vector<std::string> sentences_of(const std::vector<const row*>& rows, bool on_many,
                                      language in) {
  const auto ranked = [](const row* r) { return r->rank.has_value(); };
  const bool ranks_differ =
      std::ranges::any_of(rows, [](const row* r) { return r->rank.value_or(1) > 1; });
  const bool dies =
      std::ranges::any_of(rows, [](const row* r) { return (*r)["recovery"].value.has_value(); });
  std::vector<std::string> all;
  for (const auto& [id, names_all] : places) {
    std::vector<std::string> names;
    for (const row* r : rows) {
      if (place_of(*r, ranks_differ, dies) != id) continue;
      std::string name = name_with_options(*r);
      if (on_many) name += fmt::format(" ({})", r->topology);
      const bool of_waits = id == "closing_even" || id == "closing_fast_even" ||
                            id == "closing_uneven" || id == "closing_fast_uneven";
      names.push_back(rows.size() <= 2 && of_waits ? with_figures(*r, name, in) : name);
    }
    if (!names.empty()) {
      all.push_back(text_of({std::string(id), {listed(std::move(names), names_all, in)}}, in));
    }
  }
  if (!ranks_differ && std::ranges::count_if(rows, ranked) > 1) {
    all.push_back(text_of({"closing_alike", {}}, in));
  }
  return all;
}

bool tells_nothing(const std::vector<const row*>& rows) {
  return std::ranges::all_of(rows, [](const row* r) { return r->untested && !is_violated(*r); });
}

}  // namespace

waits waits_of(const row& r) {
  const std::array all{is_fair(r), is_narrow(r), serves_the_worst(r)};
  if (std::ranges::find(all, std::optional(false)) != all.end()) return waits::uneven;
  const bool known = std::ranges::all_of(all, [](const auto& one) { return one.has_value(); });
  return known ? waits::even : waits::unknown;
}

bool is_sound(const row& r) {
  return r.valid && !r.untested && !r.bound && !is_violated(r) && r.safety_class != "none";
}

std::string closing_text(const std::vector<row>& rows, language in) {
  std::vector<std::pair<std::string, std::vector<const row*>>> groups;
  for (const std::string& scenario : distinct(rows, &row::scenario)) {
    std::vector<const row*>& its = groups.emplace_back(scenario, std::vector<const row*>{}).second;
    for (const row& r : rows) {
      if (r.scenario == scenario) its.push_back(&r);
    }
  }
  const auto is_empty = [](const auto& g) { return tells_nothing(g.second); };
  if (!std::ranges::all_of(groups, is_empty)) std::erase_if(groups, is_empty);
  const auto place = [](const row& r) { return std::pair(name_with_options(r), r.topology); };
  // A lock on two topologies is two rows of one name.
  const bool on_many = distinct(rows, place).size() > distinct(rows, name_with_options).size();
  std::vector<std::string> all;
  for (const auto& [scenario, its] : groups) {
    std::vector<std::string> its_sentences = sentences_of(its, on_many, in);
    if (groups.size() > 1 && !its_sentences.empty()) {
      its_sentences.front() =
          text_of({"closing_in", {translated(scenario, in), std::move(its_sentences.front())}}, in);
    }
    std::ranges::move(its_sentences, std::back_inserter(all));
  }
  if (all.empty()) return "";
  return in == language::chinese ? joined(all, {}, "。") + "。" : joined(all, {}, ". ") + ".";
}

const row* best_of(const std::vector<row>& rows) {
  const row* best = nullptr;
  for (const row& r : rows) {
    if (!is_sound(r)) continue;
    const bool is_even = waits_of(r) == waits::even;
    if (best == nullptr || (is_even && waits_of(*best) != waits::even)) best = &r;
  }
  return best;
}

}  // namespace lockmark::report
