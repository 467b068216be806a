// The comparison table: every lock on every topology it runs on, in both scenarios.
#include <fmt/core.h>
#include <fnmatch.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "deploy/local/topology.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/execute.hpp"
#include "harness/cli/jobs.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/terminal.hpp"
#include "harness/cli/watching.hpp"
#include "harness/config/settings.hpp"
#include "harness/config/target.hpp"
#include "harness/report/table.hpp"

namespace lockmark::cli {
namespace {

struct given {
  bool quick = false;
  bool full = false;
  std::vector<std::string> locks;       // empty: all, or with --quick those that need no Java
  std::vector<std::string> topologies;  // empty: those that the depth is for
  std::vector<std::string> scenarios{"contended", "uncontended"};
  std::vector<std::string> set;
  std::string targets_file;
  std::string format = "text";
  std::string out = "runs";
  std::string language = "en";
  std::string order;
  bool quiet = false;
  watching watched;
};

struct named_target {
  std::string name;  // what the table shows as topology
  std::string target;
};

struct line {
  const lock_kind* lock;
  std::string scenario;
  std::string option;  // "indexed=false": one that differs from its preset; or empty
};

// Options that make another lock of one, with a row of their own in the full table.
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

bool matches_any(const std::vector<std::string>& globs, std::string_view name) {
  for (const std::string& glob : globs) {
    if (fnmatch(glob.c_str(), std::string(name).c_str(), 0) == 0) return true;
  }
  return false;
}

bool wanted(const given& g, const lock_kind& lock) {
  if (!g.locks.empty()) return matches_any(g.locks, lock.name);
  return g.full || backend_of(lock.name) != "exec";
}

// A first look needs one server of each kind. TLS is no topology of its own: one that is asked for.
bool wanted(const given& g, const std::string& topology) {
  if (!g.topologies.empty()) return matches_any(g.topologies, topology);
  if (!g.targets_file.empty()) return true;
  if (g.full) return !topology.ends_with("-tls");
  return topology.find('-') == std::string::npos;
}

std::vector<named_target> read_targets(const given& g) {
  std::vector<named_target> all;
  if (g.targets_file.empty()) {
    for (const local::topology& t : local::topologies()) {
      all.push_back({t.name, fmt::format("local:{}", t.name)});
    }
  } else {
    std::ifstream file(g.targets_file);
    if (!file) throw usage_error(fmt::format("--targets: cannot read {}", g.targets_file));
    std::stringstream text;
    text << file.rdbuf();
    for (const config::setting& s : config::read_settings(text.str(), g.targets_file)) {
      const auto target = config::parse_target(s.text);
      if (!target) {
        throw usage_error(
            fmt::format("{}:{}: {}: {}", g.targets_file, s.line, s.key, target.error().sentence));
      }
      all.push_back({s.key, s.text});
    }
  }
  std::erase_if(all, [&](const named_target& t) { return !wanted(g, t.name); });
  if (all.empty()) throw usage_error("--topologies: no target matches");
  return all;
}

// The samples that a row rests on. The article took 10,000 to 30,000, and 100,000 for Redisson.
std::vector<std::string> depth_of(const given& g, const lock_kind& lock) {
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
  // `exporter` shows the rows while they are measured; or null.
  table_maker(const context& c, const given& g, metrics::exporter* exporter)
      : context_(c), given_(g), exporter_(exporter), out_(std::filesystem::path(g.out)) {}

  int make();

 private:
  void measure_place(const named_target& t);
  void measure_row(const place& where, const line& l);
  void fail(const std::string& what, const char* why);
  void remember(int status);
  void save() const;
  std::string format(const std::string& how) const;
  std::string whole_page(report::language in) const;

  const context& context_;
  const given& given_;
  metrics::exporter* exporter_;
  std::filesystem::path out_;
  std::vector<report::row> rows_;
  int status_ = 0;
  int failures_ = 0;
};

int table_maker::make() {
  for (const named_target& t : read_targets(given_)) {
    if (interrupts() > 0) break;
    measure_place(t);
  }
  if (rows_.empty() && failures_ == 0) {
    throw usage_error("no lock matches --locks on these topologies; see lockmark list");
  }
  if (interrupts() > 0) remember(3);
  if (given_.order == "speed") rows_ = report::ranked(std::move(rows_));
  if (given_.order == "article") rows_ = report::as_in_the_article(std::move(rows_));
  save();
  fmt::print("{}", format(given_.format));
  fmt::print(stderr, "table and run folders: {}\n", out_.string());
  return status_;
}

void table_maker::measure_place(const named_target& t) {
  std::vector<line> lines;
  place where = find_place(t.target);
  where.topology = t.name;
  for (const std::string& scenario : given_.scenarios) {
    for (const lock_kind& lock : context_.known.locks()) {
      if (!runs_on(lock, where.form) || !wanted(given_, lock)) continue;
      lines.push_back({&lock, scenario, ""});
      for (const variant& v : variants) {
        if (given_.full && v.lock == lock.name)
          lines.push_back({&lock, scenario, std::string(v.option)});
      }
    }
  }
  for (const line& l : lines) {
    if (interrupts() > 0) return;
    measure_row(where, l);
  }
}

// What goes wrong with one row does not take the others with it.
void table_maker::measure_row(const place& where, const line& l) {
  std::vector<std::string> set{fmt::format("lock={}", l.lock->name)};
  if (!l.option.empty()) set.push_back(fmt::format("options.{}", l.option));
  for (std::string& more : depth_of(given_, *l.lock)) set.push_back(std::move(more));
  const named_job job = find_job(l.scenario, set);
  const std::string what = fmt::format("{}{}{} {} on {}", l.lock->name, l.option.empty() ? "" : " ",
                                       l.option, job.name, where.topology);
  progress_display display(what, given_.quiet);
  errand e{job.job, job.name, out_, context_.arguments, {}, {}, exporter_};
  e.on_progress = [&display](const run::progress& p) { display.show(p); };
  try {
    const executed done = execute(context_.known, where, std::move(e));
    remember(exit_status(done.result));
    rows_.push_back(report::row_of(done.written));
    display.clear();
    if (!given_.quiet) {
      fmt::print(stderr, "{}: {:.0f}/s, {} samples{}\n", what, done.result.tps(),
                 done.result.attempts(), done.result.why.empty() ? "" : ", " + done.result.why);
    }
    save();
  } catch (const no_server& failure) {
    display.clear();
    fail(what, failure.what());
  } catch (const usage_error& failure) {
    // A job that cannot run on this place; on the first row it is the user's input that is wrong.
    display.clear();
    if (rows_.empty() && failures_ == 0) throw;
    fail(what, failure.what());
  }
}

void table_maker::fail(const std::string& what, const char* why) {
  fmt::print(stderr, "lockmark: {}: {}\n", what, why);
  ++failures_;
  remember(2);
}

// A failed lock is the gravest, then a row that is missing, then one that nobody should trust.
void table_maker::remember(int status) {
  const auto gravity = [](int s) { return s == 1 ? 3 : s == 2 ? 2 : s == 3 ? 1 : 0; };
  if (gravity(status) > gravity(status_)) status_ = status;
}

void table_maker::save() const {
  const auto write = [&](const char* name, const std::string& text) {
    const auto part = out_ / (std::string(name) + ".part");
    std::ofstream(part) << text;
    std::filesystem::rename(part, out_ / name);
  };
  write("table.md", whole_page(report::language::english));
  write("table.zh.md", whole_page(report::language::chinese));
  write("table.csv", report::table_csv(rows_));
  write("table.json", report::table_json(rows_));
}

std::string table_maker::whole_page(report::language in) const {
  const std::string table = report::table_markdown(rows_, in);
  return given_.full ? fmt::format("{}\n{}", table, report::overview_markdown(rows_, in)) : table;
}

std::string table_maker::format(const std::string& how) const {
  const auto words =
      given_.language == "zh" ? report::language::chinese : report::language::english;
  if (how == "md") return whole_page(words);
  if (how == "csv") return report::table_csv(rows_);
  if (how == "json") return report::table_json(rows_);
  return report::table_terminal(rows_, width_of(stdout), words);
}

}  // namespace

command table_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<given>();
  auto* const quick =
      app.add_flag("--quick", g->quick, "at least 2,000 samples and 5 s a row (the default)");
  app.add_flag("--full", g->full, "up to 30,000 samples a row, Redisson 100,000")->excludes(quick);
  app.add_option("--locks", g->locks, "only locks that match, such as 'redis/*'");
  app.add_option("--topologies", g->topologies, "only topologies that match");
  app.add_option("--scenarios", g->scenarios, "jobs: shipped names or files")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--set", g->set, "KEY=VALUE: overrides every job")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--targets", g->targets_file,
                 "YAML file of your own clusters: a line `name: URL` for each");
  app.add_option("--format", g->format, "text, md, json or csv")
      ->check(CLI::IsMember({"text", "md", "json", "csv"}))
      ->capture_default_str();
  app.add_option("--lang", g->language, "language of headings and notes: en or zh")
      ->check(CLI::IsMember({"en", "zh"}))
      ->capture_default_str();
  app.add_option("--order", g->order,
                 "speed (the default of --quick), or article: by lock, as in the articles' tables "
                 "(the default of --full)")
      ->check(CLI::IsMember({"speed", "article"}));
  app.add_option("--out", g->out,
                 "table.md, table.zh.md, .csv, .json and the run folders appear in here")
      ->capture_default_str();
  app.add_flag("--quiet", g->quiet, "no progress");
  declare_watching(app, g->watched);
  return [c, g] {
    interrupts();
    if (g->order.empty()) g->order = g->full ? "article" : "speed";
    const auto exporter = start_watching(g->watched);
    const int status = table_maker(c, *g, exporter.get()).make();
    end_watching(exporter.get());
    return status;
  };
}

}  // namespace lockmark::cli
