// The comparison table: every lock on every topology it runs on, in both scenarios.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "deploy/local/topology.hpp"
#include "harness/base/files.hpp"
#include "harness/base/glob.hpp"
#include "harness/config/settings.hpp"
#include "harness/config/target.hpp"
#include "harness/report/html/page.hpp"
#include "harness/report/junit.hpp"
#include "harness/report/table.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/execute.hpp"
#include "program/jobs.hpp"
#include "program/output_file.hpp"
#include "program/progress.hpp"
#include "program/terminal.hpp"
#include "program/watching.hpp"

namespace lockmark::cli {
namespace {

// The order of the published articles; real clients in processes of their own come last.
constexpr std::array<std::string_view, 4> in_the_article{"mysql", "zookeeper", "redis", "exec"};

struct table_options {
  bool quick = false;
  bool full = false;
  std::vector<std::string> locks;       // empty: all, or with --quick those that need no Java
  std::vector<std::string> topologies;  // empty: those of the chosen depth
  std::vector<std::string> scenarios{"contended", "uncontended"};
  std::vector<std::string> set;
  std::string targets_file;
  std::string format = "text";
  std::string out = "runs";
  std::string language = "en";
  std::string order;
  std::string junit;
  bool quiet = false;
  watching watched;
};

struct named_target {
  std::string name;  // the topology shown in the table
  std::string target;
};

struct line {
  const lock_kind* lock;
  std::string scenario;
  std::string option;  // "indexed=false", if it differs from its preset; or empty
};

// Options that change a lock so much that they get a row of their own in the full table.
struct variant {
  std::string_view lock;
  std::string_view option;
};
constexpr std::array variants{
    variant{"redis/set_nx_px", "release=del"},
    variant{"redis/set_nx_px", "release=compare_then_del"},
    variant{"redis/lua", "watchdog=true"},
    variant{"mysql/for_update", "wait=nowait"},
    variant{"mysql/for_update", "wait=skip_locked"},
    variant{"mysql/for_update", "indexed=false"},
    variant{"mysql/optimistic_update_time", "precision=0"},
};

bool wanted(const table_options& g, const lock_kind& lock) {
  if (!g.locks.empty()) return matches_any(g.locks, lock.name);
  return backend_of(lock.name) != "exec" || (g.full && lock.name != "exec/lock");
}

// A quick table needs one server of each kind. TLS is no topology of its own: only on request.
bool wanted(const table_options& g, const std::string& topology) {
  if (!g.topologies.empty()) return matches_any(g.topologies, topology);
  if (!g.targets_file.empty()) return true;
  if (g.full) return !topology.ends_with("-tls");
  return topology.find('-') == std::string::npos;
}

std::vector<named_target> read_targets(const table_options& g) {
  std::vector<named_target> all;
  if (g.targets_file.empty()) {
    for (const local::topology& t : local::topologies()) {
      all.push_back({t.name, fmt::format("local:{}", t.name)});
    }
  } else {
    if (!std::ifstream(g.targets_file)) {
      throw usage_error("--targets: cannot read {}", g.targets_file);
    }
    const std::string text = readable_text(g.targets_file);
    for (const config::setting& s : config::read_settings(text, g.targets_file)) {
      const auto target = config::parse_target(s.text);
      if (!target) {
        throw usage_error("{}:{}: {}: {}", g.targets_file, s.line, s.key, target.error().sentence);
      }
      all.push_back({s.key, s.text});
    }
  }
  std::erase_if(all, [&](const named_target& t) { return !wanted(g, t.name); });
  if (all.empty()) throw usage_error("--topologies: no target matches");
  return all;
}

// The samples of one row. The article took 10,000 to 30,000, and 100,000 for Redisson.
std::vector<std::string> depth_of(const table_options& g, const lock_kind& lock) {
  std::vector<std::string> set;
  if (g.full) {
    const bool most = lock.name.find("redisson") != std::string_view::npos;
    set = {fmt::format("stop.samples={}", most ? 100'000 : 30'000), "stop.duration=5s",
           "stop.at_most=25s"};
  }
  set.insert(set.end(), g.set.begin(), g.set.end());
  return set;
}

class table_maker {
 public:
  // `exporter` (or null) shows the rows while they are measured.
  table_maker(const context& c, const table_options& g, metrics::exporter* exporter)
      : context_(c),
        given_(g),
        exporter_(exporter),
        out_(std::filesystem::path(g.out)),
        junit_("--junit", g.junit) {}

  int make();
  // Writes the error that ended the table early to the JUnit file.
  void tell_why_not(const char* why);

 private:
  std::vector<faults::fault_plan> faults_of_all() const;
  std::vector<line> lines_on(std::string_view form) const;
  void measure_place(const named_target& t);
  void measure_row(resolved_target& where, const line& l);
  std::optional<double> rows_to_come_s() const;
  void fail(const std::string& scenario, const std::string& what, const char* why);
  void remember(int status);
  void save();
  void save_html() const;
  std::string format(const std::string& how) const;
  std::string whole_page(language in) const;

  const context& context_;
  const table_options& given_;
  metrics::exporter* exporter_;
  std::filesystem::path out_;
  output_file junit_;
  std::vector<report::row> rows_;
  std::vector<report::test_case> cases_;
  int status_ = 0;
  int failures_ = 0;
  time_point began_ = real_clock{}.now();
  std::size_t rows_begun_ = 0;
  std::size_t rows_in_all_ = 0;  // as far as target names tell
};

int table_maker::make() {
  const std::vector<named_target> targets = read_targets(given_);
  for (const named_target& t : targets) rows_in_all_ += lines_on(expected_form(t.target)).size();
  for (const named_target& t : targets) {
    if (interrupts() > 0) break;
    measure_place(t);
  }
  if (rows_.empty() && failures_ == 0) {
    throw usage_error("no lock matches --locks on these topologies; see lockmark list");
  }
  if (interrupts() > 0) remember(3);
  if (given_.order == "speed") rows_ = report::ranked(std::move(rows_));
  if (given_.order == "article") rows_ = report::by_backend(std::move(rows_), in_the_article);
  save();
  if (junit_) junit_.write(report::junit_xml(cases_));
  fmt::print("{}", format(given_.format));
  save_html();
  if (!given_.quiet) fmt::print(stderr, "table and run folders: {}\n", out_.string());
  return status_;
}

// The faults of all scenarios: they share their servers.
std::vector<faults::fault_plan> table_maker::faults_of_all() const {
  std::vector<faults::fault_plan> all;
  for (const std::string& scenario : given_.scenarios) {
    const auto plans = faults::read_faults(find_job(scenario, {"stop.duration=1s"}).job.faults);
    all.insert(all.end(), plans.begin(), plans.end());
  }
  return all;
}

void table_maker::tell_why_not(const char* why) {
  if (!junit_) return;
  cases_.push_back(report::unmeasured("", "lockmark table", why));
  junit_.write(report::junit_xml(cases_));
}

std::vector<line> table_maker::lines_on(std::string_view form) const {
  std::vector<line> lines;
  for (const std::string& scenario : given_.scenarios) {
    for (const lock_kind& lock : context_.known.locks()) {
      if (!runs_on(lock, form) || !wanted(given_, lock)) continue;
      lines.push_back({&lock, scenario, ""});
      for (const variant& v : variants) {
        if (given_.full && v.lock == lock.name)
          lines.push_back({&lock, scenario, std::string(v.option)});
      }
    }
  }
  return lines;
}

void table_maker::measure_place(const named_target& t) {
  progress_display display(t.name, given_.quiet);
  if (t.target.starts_with("local:")) display.announce("starting servers");
  resolved_target where = resolve_target(t.target, inject::needs_of(faults_of_all()));
  display.clear();
  where.topology = t.name;
  const std::vector<line> lines = lines_on(where.form);
  rows_in_all_ = rows_in_all_ + lines.size() - lines_on(expected_form(t.target)).size();
  for (const line& l : lines) {
    if (interrupts() > 0) return;
    measure_row(where, l);
  }
}

// A failing row does not stop the others.
void table_maker::measure_row(resolved_target& where, const line& l) {
  std::vector<std::string> set{fmt::format("lock={}", l.lock->name)};
  if (!l.option.empty()) set.push_back(fmt::format("options.{}", l.option));
  for (std::string& more : depth_of(given_, *l.lock)) set.push_back(std::move(more));
  const named_job job = find_job(l.scenario, set);
  const std::string what = fmt::format("{}{}{} {} on {}", l.lock->name, l.option.empty() ? "" : " ",
                                       l.option, job.name, where.topology);
  ++rows_begun_;
  progress_display display(fmt::format("{}/{} {}", rows_begun_, rows_in_all_, what), given_.quiet);
  display.rows_to_come(rows_to_come_s());
  run_request e{job.job, job.name, out_, context_.arguments, {}, {}, exporter_};
  e.on_progress = [&display](const run::progress& p) { display.show(p); };
  try {
    const executed done = execute(context_.known, where, std::move(e));
    remember(exit_status(done.result));
    rows_.push_back(report::row_of(done.written));
    cases_.push_back(report::test_case_of(done.written));
    display.clear();
    if (!given_.quiet) {
      fmt::print(stderr, "{}: {:.0f}/s, {} samples{}\n", what, done.result.tps(),
                 done.result.attempts(), done.result.why.empty() ? "" : ", " + done.result.why);
    }
    save();
  } catch (const no_server& failure) {
    display.clear();
    fail(job.name, what, failure.what());
  } catch (const usage_error& failure) {
    // A job that cannot run on this target; on the very first row it is a usage error.
    display.clear();
    if (rows_.empty() && failures_ == 0) throw;
    fail(job.name, what, failure.what());
  }
}

// Estimates the remaining rows from those so far, including the start of their servers.
std::optional<double> table_maker::rows_to_come_s() const {
  if (rows_begun_ < 2) return std::nullopt;
  const std::chrono::duration<double> so_far = real_clock{}.now() - began_;
  const auto done = static_cast<double>(rows_begun_ - 1);
  const std::size_t left = std::max(rows_in_all_, rows_begun_) - rows_begun_;
  return so_far.count() / done * static_cast<double>(left);
}

void table_maker::fail(const std::string& scenario, const std::string& what, const char* why) {
  fmt::print(stderr, "lockmark: {}: {}\n", what, why);
  cases_.push_back(report::unmeasured(scenario, what, why));
  ++failures_;
  remember(2);
}

// A failed lock is worst, then a missing row, then an unreliable one.
void table_maker::remember(int status) {
  const auto gravity = [](int s) { return s == 1 ? 3 : s == 2 ? 2 : s == 3 ? 1 : 0; };
  if (gravity(status) > gravity(status_)) status_ = status;
}

void table_maker::save() {
  const std::pair<const char*, std::string> files[] = {
      {"table.md", whole_page(language::english)},
      {"table.zh.md", whole_page(language::chinese)},
      {"table.csv", report::table_csv(rows_)},
      {"table.json", report::table_json(rows_)},
  };
  for (const auto& [name, text] : files) {
    if (!cli::save(out_ / name, text)) remember(2);
  }
}

// Only at the end: it reads every run folder again, and no row is measured meanwhile.
void table_maker::save_html() const {
  if (rows_.empty()) return;
  std::vector<std::filesystem::path> runs;
  for (const report::row& r : rows_) runs.push_back(out_ / r.run);
  output_file("--out", out_ / "report.html")
      .write(report::html::page(runs, report::html::order::as_given));
}

std::string table_maker::whole_page(language in) const {
  const std::string table = report::table_markdown(rows_, in);
  return given_.full ? fmt::format("{}\n{}", table, report::overview_markdown(rows_, in)) : table;
}

std::string table_maker::format(const std::string& how) const {
  const auto words = given_.language == "zh" ? language::chinese : language::english;
  if (how == "md") return whole_page(words);
  if (how == "csv") return report::table_csv(rows_);
  if (how == "json") return report::table_json(rows_);
  return report::table_terminal(rows_, width_of(stdout), words, style_of(screen_of(stdout)));
}

}  // namespace

command_action table_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<table_options>();
  auto* const quick =
      app.add_flag("--quick", g->quick, "at least 2,000 samples and 5 s a row (the default)");
  app.add_flag("--full", g->full, "up to 30,000 samples a row, Redisson 100,000")->excludes(quick);
  declare(app, "--locks", g->locks, "LOCK", "only locks that match, such as 'redis/*'");
  declare(app, "--topologies", g->topologies, "TOPOLOGY", "only topologies that match");
  app.add_option("--scenarios", g->scenarios, "jobs: shipped names or files")
      ->type_name("JOB")
      ->delimiter(',')
      ->capture_default_str();
  declare_set(app, g->set, "overrides every job");
  declare(app, "--targets", g->targets_file, "FILE",
          "YAML file of your own clusters: a line `name: URL` for each");
  declare_format(app, g->format, "text, md, json or csv", {"text", "md", "json", "csv"});
  app.add_option("--lang", g->language, "language of headings and notes: en or zh")
      ->check(CLI::IsMember({"en", "zh"}))
      ->capture_default_str();
  app.add_option("--order", g->order,
                 "speed (the default of --quick), or article: by lock, as in the articles' tables "
                 "(the default of --full)")
      ->check(CLI::IsMember({"speed", "article"}));
  declare(app, "--out", g->out, "DIR",
          "table.md, table.zh.md, .csv, .json, report.html and the run folders appear in here");
  declare(app, "--junit", g->junit, "FILE", "also writes the verdicts as JUnit XML");
  app.add_flag("--quiet", g->quiet, "nothing on stderr but errors");
  declare_watching(app, g->watched);
  return [c, g] {
    interrupts();
    if (g->order.empty()) g->order = g->full ? "article" : "speed";
    const auto exporter = start_watching(g->watched);
    table_maker table(c, *g, exporter.get());
    try {
      const int status = table.make();
      end_watching(exporter.get());
      return status;
    } catch (const std::exception& e) {
      table.tell_why_not(e.what());
      throw;
    }
  };
}

}  // namespace lockmark::cli
