#include "program/table_maker.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "harness/base/files.hpp"
#include "harness/report/closing.hpp"
#include "harness/report/html/page.hpp"
#include "harness/report/table.hpp"
#include "harness/report/text.hpp"
#include "program/jobs.hpp"
#include "program/next_step.hpp"
#include "program/progress.hpp"
#include "program/terminal.hpp"
#include "program/trial.hpp"

namespace lockmark::cli {
namespace {

constexpr const char* index_name = "table_runs.json";

// The order of the published articles, with etcd beside ZooKeeper; real clients in processes of
// their own come last.
constexpr std::array<std::string_view, 5> in_the_article{"mysql", "zookeeper", "etcd", "redis",
                                                         "exec"};

// Whether this is what save() writes.
bool is_index(const nlohmann::json& index) {
  const auto has = [](const nlohmann::json& of, const char* key, nlohmann::json::value_t type) {
    return of.contains(key) && of.at(key).type() == type;
  };
  using enum nlohmann::json::value_t;
  if (!index.is_object() || !has(index, "runs", array)) return false;
  return std::ranges::all_of(index.at("runs"), [&](const nlohmann::json& one) {
    return one.is_object() && has(one, "row", string) && has(one, "run", string) &&
           has(one, "repetition", number_unsigned);
  });
}

// A finished run's part in the table's exit status.
int status_of(const report::row& r) {
  if (r["violations"].value.value_or(0) > 0) return 1;
  return r.valid ? 0 : 3;
}

struct known_run {
  explicit known_run(report::recorded_run read)
      : run(std::move(read)), as_row(report::row_of(run)) {}

  // The hypervisor gave the machine to others meanwhile. What a lock did wrong, it did all the
  // same.
  bool was_disturbed() const {
    const auto is_steal = [](const message& m) { return m.id == "steal"; };
    return std::ranges::any_of(as_row.reasons, is_steal) && status_of(as_row) != 1;
  }

  report::recorded_run run;
  report::row as_row;
};

}  // namespace

int table_maker::make() {
  targets_ = read_targets(given_);
  // Servers that nobody would ask anything are not started.
  std::erase_if(targets_, [this](const named_target& t) {
    return t.is_local() && lines_on(context_.known, given_, expected_form(t.target)).empty();
  });
  resume();
  for (const named_target& t : targets_) {
    runs_in_all_ += given_.runs_a_row() * lines(t, expected_form(t.target)).size();
  }
  // Servers of one machine that nobody asks anything cost the others little, but not nothing.
  const std::size_t at_once = given_.full ? 1 : targets_.size();
  for (std::size_t i = 0; i < targets_.size() && interrupts() == 0; i += at_once) {
    measure_group(std::span(targets_).subspan(i, at_once));
  }
  if (subjects_.empty()) {
    throw usage_error("no lock matches --locks on these topologies; see lockmark list");
  }
  if (interrupts() > 0) remember(3);
  save();
  if (junit_) junit_.write(report::junit_xml(cases()));
  print_result(format(given_.format));
  save_html();
  if (given_.format == "text") print_next();
  if (!given_.quiet) fmt::print(stderr, "table and run folders: {}\n", out_.string());
  return status_;
}

std::vector<table_line> table_maker::lines(const named_target& t, std::string_view form) const {
  return lines_of(context_.known, given_, targets_, t, form);
}

// Sorted as asked for, of what there is so far.
std::vector<report::row> table_maker::rows() const {
  std::vector<report::row> all;
  for (const table_row& s : subjects_) {
    std::vector<report::row> runs;
    for (const auto& [repetition, run] : s.runs) runs.push_back(run);
    if (!runs.empty()) all.push_back(report::merged(std::move(runs)));
  }
  all = report::ranked(std::move(all));
  if (given_.order == "article") return report::by_backend(std::move(all), in_the_article);
  return all;
}

// One of each row: that of its gravest run.
std::vector<report::test_case> table_maker::cases() const {
  using outcome = report::test_case::outcome;
  constexpr std::array from_the_gravest{outcome::failed, outcome::error, outcome::skipped,
                                        outcome::passed};
  const auto place = [&](const report::test_case& c) {
    return std::ranges::find(from_the_gravest, c.how);
  };
  std::vector<report::test_case> all;
  for (const table_row& s : subjects_) {
    if (!s.cases.empty()) all.push_back(*std::ranges::min_element(s.cases, {}, place));
  }
  return all;
}

// Of all scenarios, which share their servers.
inject::fault_needs table_maker::needs_of_all() const {
  inject::fault_needs all;
  for (const std::string& scenario : scenarios_of(given_)) {
    std::vector<std::string> set{"stop.duration=1s"};
    set.insert(set.end(), given_.set.begin(), given_.set.end());
    all.add(inject::needs_of(find_job(scenario, set).job));
  }
  return all;
}

void table_maker::tell_why_not(const char* why) {
  if (!junit_) return;
  std::vector<report::test_case> all = cases();
  all.push_back(report::unmeasured("", "lockmark table", why));
  junit_.write(report::junit_xml(all));
}

// All of them at once, so that their rows are measured in turns.
void table_maker::measure_group(std::span<const named_target> group) {
  std::deque<table_place> places;
  std::vector<std::pair<table_place*, table_row*>> all;
  for (const named_target& t : group) {
    progress_display display(t.name, given_.quiet);
    if (t.is_local()) display.announce("starting servers");
    table_place& at = places.emplace_back(table_place{t, resolve_target(t.target, needs_of_all())});
    display.clear();
    at.where.topology = t.name;
    const std::vector<table_line> known = lines(t, at.where.form);
    runs_in_all_ += given_.runs_a_row() * known.size();
    runs_in_all_ -= given_.runs_a_row() * lines(t, expected_form(t.target)).size();
    for (const table_line& l : known)
      all.emplace_back(&at, &subjects_.emplace_back(table_row{&t, l, {}, {}}));
  }
  for (std::uint64_t repetition = 0; repetition < given_.runs_a_row(); ++repetition) {
    for (const auto& [at, row] : all) {
      if (interrupts() > 0) return;
      if (!row->failed) measure(*at, *row, repetition);
    }
    std::ranges::shuffle(all, std::mt19937_64{repetition});
  }
}

// A failing row does not stop the others.
void table_maker::measure(table_place& at, table_row& row, std::uint64_t repetition) {
  ++runs_begun_;
  if (is_known(row, repetition)) {
    ++runs_known_;
    return;
  }
  std::vector<std::string> set{fmt::format("lock={}", row.of.lock->name), seed_of(repetition)};
  if (!row.of.option.empty()) set.push_back(fmt::format("options.{}", row.of.option));
  const std::optional<double> per_s = row.of.load > 0 ? capacity_of(row) : 0;
  if (!per_s) return fail(row, "what it can do at most is not known");
  const auto phase = phase_of(row.of.scenario, repetition);
  set.insert(set.end(), phase.begin(), phase.end());
  const auto more = settings_of(given_, row.of, at.where.form, *per_s);
  set.insert(set.end(), more.begin(), more.end());
  progress_display display(fmt::format("{}/{} {}", runs_begun_, runs_in_all_, row.name()),
                           given_.quiet);
  display.rows_to_come(rest_s());
  try {
    const named_job job = find_job(row.of.scenario, set);
    run_request e{job.job, row.of.title(), out_, context_.arguments, {}, {}, exporter_};
    e.from = from_;
    e.on_progress = [&display](const run::progress& p) { display.show(p); };
    const executed done = execute(context_.known, at.where, std::move(e));
    remember(exit_status(done.result));
    keep(row, repetition, done.written);
    index_["runs"].push_back(
        {{"row", row.name()}, {"repetition", repetition}, {"run", done.written.name}});
    display.clear();
    if (!given_.quiet) {
      fmt::print(stderr, "{}: {:.0f}/s, {} samples{}\n", row.name(), done.result.tps(),
                 done.result.attempts(), done.result.why.empty() ? "" : ", " + done.result.why);
    }
    save();
  } catch (const no_server& failure) {
    display.clear();
    fail(row, failure.what());
  } catch (const usage_error& failure) {
    // A job that cannot run on this target; on the very first row it is a usage error.
    display.clear();
    if (runs_begun_ == 1) throw;
    fail(row, failure.what());
  }
}

// The median of its runs so far in a closed loop.
std::optional<double> table_maker::capacity_of(const table_row& row) const {
  for (const table_row& other : subjects_) {
    const bool is_it = other.target == row.target && other.of.lock == row.of.lock &&
                       other.of.option == row.of.option && other.of.scenario == row.of.scenario &&
                       other.of.load == 0;
    if (!is_it || other.runs.empty()) continue;
    std::vector<report::row> runs;
    for (const auto& [repetition, run] : other.runs) runs.push_back(run);
    const double per_s = report::merged(std::move(runs))["tps"].value.value_or(0);
    if (per_s > 0) return per_s;
  }
  return std::nullopt;
}

void table_maker::keep(table_row& row, std::uint64_t repetition, const report::recorded_run& run) {
  row.runs.emplace(repetition, report::row_of(run));
  row.cases.push_back(report::test_case_of(run));
}

// What was measured before --resume. A run that was interrupted, or is no longer there, is made
// again. Of several runs of one repetition the last counts that was not disturbed, or else the
// last.
bool table_maker::is_known(table_row& row, std::uint64_t repetition) {
  std::optional<known_run> found;
  for (const nlohmann::json& one : index_["runs"]) {
    if (one.at("row") != row.name() || one.at("repetition") != repetition) continue;
    const std::filesystem::path folder = out_ / one.at("run").get<std::string>();
    if (!std::filesystem::exists(folder / "run.json")) continue;
    known_run next{report::read_run(folder)};
    if (!next.as_row.complete) continue;
    if (!found || found->was_disturbed() || !next.was_disturbed()) found = std::move(next);
  }
  if (!found || (given_.again && found->was_disturbed())) return false;
  keep(row, repetition, found->run);
  remember(status_of(found->as_row));
  return true;
}

// The table must be the same one: its rows are compared.
void table_maker::resume() {
  std::vector<std::string> settings = words_of(given_.load);
  settings.insert(settings.end(), given_.set.begin(), given_.set.end());
  const nlohmann::json fresh{
      {"full", given_.full}, {"set", settings}, {"runs", nlohmann::json::array()}};
  index_ = fresh;
  if (given_.resume.empty()) return;
  const std::filesystem::path file = out_ / index_name;
  const std::string text = std::filesystem::exists(file) ? readable_text(file) : "";
  index_ = nlohmann::json::parse(text, nullptr, false);
  if (!is_index(index_)) {
    throw usage_error("--resume: {} has no {} of a table that was interrupted", given_.resume,
                      index_name);
  }
  if (index_["full"] != fresh["full"] || index_["set"] != fresh["set"]) {
    throw usage_error(
        "--resume: the table in {} was begun with other settings (--full, --set or load)",
        given_.resume);
  }
}

// Estimates the remaining runs from those made so far, including the start of their servers.
std::optional<double> table_maker::rest_s() const {
  if (runs_begun_ < runs_known_ + 2) return std::nullopt;
  const std::chrono::duration<double> so_far = real_clock{}.now() - began_;
  const auto made = static_cast<double>(runs_begun_ - runs_known_ - 1);
  const std::uint64_t left = std::max(runs_in_all_, runs_begun_) - runs_begun_;
  return so_far.count() / made * static_cast<double>(left);
}

void table_maker::fail(table_row& row, const char* why) {
  fmt::print(stderr, "lockmark: {}: {}\n", row.name(), why);
  row.cases.push_back(report::unmeasured(row.of.title(), row.name(), why));
  row.failed = true;
  ++failures_;
  remember(2);
}

// A failed lock is worst, then a missing row, then an unreliable one.
void table_maker::remember(int status) {
  const auto gravity = [](int s) { return s == 1 ? 3 : s == 2 ? 2 : s == 3 ? 1 : 0; };
  if (gravity(status) > gravity(status_)) status_ = status;
}

void table_maker::save() {
  const std::vector<report::row> all = rows();
  const std::pair<const char*, std::string> files[] = {
      {"table.md", whole_page(language::english)},
      {"table.zh.md", whole_page(language::chinese)},
      {"table.csv", report::table_csv(all)},
      {"table.json", report::table_json(all)},
      {index_name, index_.dump(1)},
  };
  for (const auto& [name, text] : files) {
    if (!cli::save(out_ / name, text)) remember(2);
  }
}

// Only at the end: it reads run folders again, and no row is measured meanwhile. Of each row it has
// the run with the median throughput.
void table_maker::save_html() const {
  std::vector<std::filesystem::path> runs;
  for (const report::row& r : rows()) runs.push_back(out_ / r.run);
  if (runs.empty()) return;
  output_file("--out", out_ / "report.html")
      .write(report::html::page(runs, report::html::order::as_given));
}

// On one line if they fit.
void table_maker::print_next() const {
  const auto in = given_.language == "zh" ? language::chinese : language::english;
  const std::string report = text_of({"closing_report", {(out_ / "report.html").string()}}, in);
  std::string next = next_command(context_, rows(), out_);
  if (!next.empty()) {
    next = text_of({"closing_next", {next}}, in);
    const bool fits = next.size() + 4 + report.size() <= width_of(stdout);
    next += fits ? "    " : "\n";
  }
  print_result(fmt::format("{}{}\n", next, report));
}

std::string table_maker::whole_page(language in) const {
  const std::vector<report::row> all = rows();
  const std::string closing = report::closing_text(all, in);
  const std::string table =
      report::table_markdown(all, in) + (closing.empty() ? "" : "\n" + closing + "\n");
  return given_.full ? fmt::format("{}\n{}", table, report::overview_markdown(all, in)) : table;
}

std::string table_maker::format(const std::string& how) const {
  const auto words = given_.language == "zh" ? language::chinese : language::english;
  if (how == "md") return whole_page(words);
  if (how == "csv") return report::table_csv(rows());
  if (how == "json") return report::table_json(rows());
  const std::vector<report::row> all = rows();
  const std::size_t width = width_of(stdout);
  std::string text =
      report::table_terminal(all, width, words, style_of(screen_of(stdout)), given_.wide) + "\n";
  for (const std::string& line : report::wrapped(report::closing_text(all, words), width)) {
    text += line + "\n";
  }
  return text;
}

}  // namespace lockmark::cli
