#include "harness/report/columns.hpp"

#include <fmt/format.h>

#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

constexpr std::string_view legend =
    "Acquire times are responses of all attempts; > T: not granted within T; -: too few samples or "
    "not known; >= and <=: the harness was the limit. Hand-off: from a release to the grant of "
    "another client. Fairness: Jain's index in short windows, 1 is even.";

constexpr std::string_view legend_of_recovery =
    "Next grant: from the death of a holder to the grant of another client; > T: none until the "
    "run ended.";

constexpr std::string_view legend_without_ranks =
    "A row is the median of its runs, with the lowest and the highest.";
constexpr std::string_view legend_with_ranks =
    "A row is the median of its runs, with the lowest and the highest. Equal ranks: no row is "
    "faster "
    "beyond these intervals.";
constexpr std::string_view legend_of_medians = "A row is the median of its runs.";
constexpr std::string_view legend_of_hidden_intervals =
    "A row is the median of its runs. Equal ranks: no row is faster beyond the runs' differences.";

std::string state_text(const row& r) {
  if (!r.complete) return "incomplete";
  return r.valid ? "yes" : "INVALID";
}

// " (165–180)" for a row of several runs.
std::string interval_text(const figure& f, const row& r) {
  const std::optional<interval>& all = r.interval_of(f);
  if (!all || r.bound) return "";
  return fmt::format(" ({}–{})", cell_text(f, {all->low}), cell_text(f, {all->high}));
}

// Those that a reader compares rows by, or the first of them.
bool has_interval(const figure& f, intervals with) {
  if (with != intervals::all) return with == intervals::of_speed && f.name == "tps";
  return !f.column.head.empty() && (f.in == unit::rate || f.in == unit::time);
}

void add_figures(std::vector<column>& columns, const std::vector<row>& rows, bool of_verdict,
                 language in, intervals with) {
  for (const figure& f : figures()) {
    if (f.column.head.empty() || f.of_verdict != of_verdict) continue;
    const auto is_known = [&f](const row& r) { return r[f.name].value.has_value(); };
    if (f.column.if_known && std::ranges::none_of(rows, is_known)) continue;
    const std::string_view head = in == language::chinese ? f.column.chinese : f.column.head;
    columns.push_back({std::string(head), f.column.keep, false,
                       [&f, shows = has_interval(f, with)](const row& r) {
                         return cell_text(f, r[f.name], r.bound) +
                                (shows ? interval_text(f, r) : "");
                       },
                       &f});
  }
}

bool has_ranks(const std::vector<row>& rows) {
  return std::ranges::any_of(rows, [](const row& r) { return r.rank.has_value(); });
}

bool of_paused_holder(const row& r) {
  return r.scenario == "holder_paused" && r.complete && r["violations"].value.has_value();
}

// What the fault showed of the row's lock, which says more than its class.
std::string paused_holder_text(const std::vector<row>& rows, const row& of, language in) {
  const auto its = std::ranges::find_if(rows, [&](const row& r) {
    return of_paused_holder(r) && r.topology == of.topology &&
           name_with_options(r) == name_with_options(of);
  });
  const std::string promised = translated(of.safety_class, in);
  if (its == rows.end() || its->untested) return promised;
  const bool two = *(*its)["violations"].value > 0;
  return fmt::format("{} ({})", translated(two ? "two holders" : "safe", in), promised);
}

}  // namespace

std::vector<column> columns(const std::vector<row>& rows, language in, intervals with) {
  const auto head = [in](std::string_view english) { return translated(english, in); };
  std::vector<column> all{
      {head("lock"), always_shown, true, [](const row& r) { return r.lock; }},
      {head("cluster mode"), 2, true, [](const row& r) { return or_dash(r.topology); }},
      {head("implementation"), 1, true, [](const row& r) { return or_dash(r.implementation); }},
      {head("scenario"), always_shown, true,
       [in](const row& r) { return translated(or_dash(r.scenario), in); }}};
  if (has_ranks(rows)) {
    all.insert(all.begin(), {head("rank"), always_shown, false, [](const row& r) {
                               return r.rank ? fmt::format("{}", *r.rank) : "-";
                             }});
  }
  add_figures(all, rows, false, in, with);
  all.push_back(
      {head("safety"), 11, true, [in](const row& r) { return translated(r.safety_class, in); }});
  all.push_back({head("durability"), 2, true,
                 [in](const row& r) { return translated(or_dash(r.durability), in); }});
  add_figures(all, rows, true, in, with);
  all.push_back({head("valid"), always_shown, true,
                 [in](const row& r) { return translated(state_text(r), in); }, nullptr, true});
  return all;
}

std::vector<column> columns_for_terminal(const std::vector<row>& rows, language in,
                                         intervals with) {
  std::vector<column> all = columns(rows, in, with);
  std::erase_if(all, [in](const column& c) { return c.head == translated("scenario", in); });
  const auto safety =
      std::ranges::find(all, translated("safety", in), [](const column& c) { return c.head; });
  if (std::ranges::any_of(rows, of_paused_holder)) {
    safety->head = translated("holder paused", in);
    safety->text = [&rows, in](const row& r) { return paused_holder_text(rows, r, in); };
  }
  for (column& c : all) {
    const bool is_short = c.of != nullptr && !c.of->column.narrow.empty();
    if (is_short && in == language::english) c.head = c.of->column.narrow;
  }
  return all;
}

tone shade_of(const column& c, const row& r) {
  if (c.has_notes) return r.valid ? tone::plain : tone::doubtful;
  const bool alarms = c.of != nullptr && c.of->of_verdict && r[c.of->name].value.value_or(0) > 0;
  return alarms ? tone::bad : tone::plain;
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::vector<std::string_view> legends_of(const std::vector<row>& rows, intervals with) {
  const bool repeats = std::ranges::any_of(rows, [](const row& r) { return !r.runs.empty(); });
  const bool dies =
      std::ranges::any_of(rows, [](const row& r) { return r["recovery"].value.has_value(); });
  std::vector<std::string_view> all{legend};
  if (dies) all.push_back(legend_of_recovery);
  if (!repeats) return all;
  const bool shown = with != intervals::none;
  all.push_back(has_ranks(rows) ? (shown ? legend_with_ranks : legend_of_hidden_intervals)
                                : (shown ? legend_without_ranks : legend_of_medians));
  return all;
}

std::string footnotes::mark(const row& r) {
  if (r.reasons.empty()) return "";
  const std::string note = fmt::format("{}", fmt::join(texts_of(r.reasons, in_), "; "));
  auto at = std::find(all_.begin(), all_.end(), note);
  if (at == all_.end()) at = all_.insert(all_.end(), note);
  return fmt::format(" [{}]", at - all_.begin() + 1);
}

}  // namespace lockmark::report
