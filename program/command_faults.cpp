// The fault catalogue on every lock that it concerns: a matrix of safe and violated.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "deploy/local/topology.hpp"
#include "harness/base/glob.hpp"
#include "harness/base/lists.hpp"
#include "harness/report/fault_matrix.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/execute.hpp"
#include "program/output_file.hpp"
#include "program/terminal.hpp"
#include "program/trial.hpp"
#include "workloads/fault_catalogue.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::cli {
namespace {

struct faults_options {
  std::vector<std::string> scenarios;  // names and globs; empty: only list the scenarios
  std::string locks = "*";
  std::string topologies = "*";
  std::uint64_t repeat = 1;
  std::vector<std::string> set;
  std::string format;
  std::string out = "runs/faults";
  bool quiet = false;
};

std::vector<std::string_view> known_scenarios() {
  return distinct(workloads::fault_catalogue(), &workloads::scenario::name);
}

bool wanted(const faults_options& g, const workloads::scenario& s) {
  return std::ranges::any_of(g.scenarios, [&](const std::string& name) {
    return name == "all" || matches_any(name, s.name);
  });
}

void check_names(const faults_options& g) {
  const auto known = known_scenarios();
  for (const std::string& name : g.scenarios) {
    const auto is_one = [&](std::string_view one) { return matches_any(name, one); };
    if (name == "all" || std::ranges::any_of(known, is_one)) continue;
    throw usage_error("no scenario \"{}\"; known are {}", name, joined(known));
  }
}

// The first comment of a scenario's job: its action and its point.
std::string explanation_of(std::string_view scenario) {
  const auto& jobs = workloads::shipped_jobs();
  std::string_view text = jobs.find(fmt::format("faults/{}", scenario))->second;
  std::string all;
  while (text.starts_with("# ")) {
    const auto end = text.find('\n');
    all += fmt::format("     {}\n", text.substr(2, end - 2));
    text.remove_prefix(end + 1);
  }
  return all;
}

int print_scenarios() {
  for (const std::string_view name : known_scenarios()) {
    fmt::print("{}\n{}", name, explanation_of(name));
  }
  return 0;
}

trial trial_of(const workloads::scenario& s, const lock_kind& lock, const std::string& topology,
               const std::vector<std::string>& set, std::uint64_t repetition) {
  trial t;
  t.title = fmt::format("{} {} on {}", s.name, lock.name, topology);
  t.job = fmt::format("faults/{}", s.name);
  t.topology = topology;
  t.query = s.query;
  t.set = phase_of(t.job, repetition);
  t.set.insert(t.set.end(), {fmt::format("lock={}", lock.name), seed_of(repetition)});
  if (!s.options.empty()) t.set.push_back(fmt::format("options.{}", s.options));
  t.set.insert(t.set.end(), set.begin(), set.end());
  return t;
}

// Users' own lock clients take part if their program is given.
bool lacks_program(const lock_kind& lock, const faults_options& g) {
  const auto takes_one = [](const lock_option& o) { return o.name == "command"; };
  const auto names_one = [](const std::string& s) { return s.starts_with("options.command="); };
  return std::ranges::any_of(lock.options, takes_one) && std::ranges::none_of(g.set, names_one);
}

std::vector<trial> plan(const catalogue& known, const faults_options& g) {
  std::vector<trial> all;
  for (const workloads::scenario& s : workloads::fault_catalogue()) {
    if (!wanted(g, s)) continue;
    for (const local::topology& t : local::topologies()) {
      if (!matches_any(s.topologies, t.name)) continue;
      if (!matches_any(g.topologies, t.name)) continue;
      for (const lock_kind& lock : known.locks()) {
        if (!workloads::concerns(s, lock.name, lock.has)) continue;
        if (!matches_any(g.locks, lock.name) || !runs_on(lock, t.name)) continue;
        if (lacks_program(lock, g)) {
          if (g.locks == "*") continue;
          throw usage_error(
              "lock {} needs a program: --set 'options.command=python3 my_lock.py'; --topologies "
              "says which servers it is for",
              lock.name);
        }
        for (std::uint64_t i = 0; i < g.repeat; ++i) {
          all.push_back(trial_of(s, lock, t.name, g.set, i));
        }
      }
    }
  }
  return all;
}

class matrix_maker {
 public:
  matrix_maker(const context& c, const faults_options& g) : context_(c), given_(g), out_(g.out) {}
  int make();

 private:
  void run(const trial& t);
  void save();

  const context& context_;
  const faults_options& given_;
  std::filesystem::path out_;
  std::vector<report::recorded_run> runs_;
  int failures_ = 0;
};

std::string shown(const std::string& format, const std::vector<report::fault_cell>& cells) {
  if (format == "json") return report::fault_matrix_json(cells);
  if (format == "md") return report::fault_matrix_markdown(cells);
  return report::fault_matrix_text(cells, width_of(stdout), style_of(screen_of(stdout)));
}

int matrix_maker::make() {
  const auto trials = plan(context_.known, given_);
  if (trials.empty()) {
    throw usage_error(
        "no lock and topology of these scenarios match --locks \"{}\" and --topologies \"{}\"",
        given_.locks, given_.topologies);
  }
  for (const trial& t : trials) {
    if (interrupts() == 0) run(t);
  }
  const auto cells = report::fault_cells(runs_);
  print_result(shown(page_format(given_.format), cells));
  fmt::print(stderr, "matrix and run folders: {}\n", out_.string());
  if (failures_ > 0) return 2;
  if (interrupts() > 0) return 3;
  const bool violated =
      std::ranges::any_of(cells, [](const report::fault_cell& c) { return c.violated > 0; });
  return violated ? 1 : 0;
}

// A failing trial does not stop the others.
void matrix_maker::run(const trial& t) {
  try {
    runs_.push_back(run_trial(context_, t, out_, given_.quiet));
    if (!given_.quiet) {
      const auto cell = report::fault_cells({runs_.back()});
      fmt::print(stderr, "{}: {}\n", t.title, report::verdict_text(cell.front()));
    }
    save();
  } catch (const std::runtime_error& failure) {
    fmt::print(stderr, "lockmark: {}: {}\n", t.title, failure.what());
    ++failures_;
  }
}

void matrix_maker::save() {
  const auto cells = report::fault_cells(runs_);
  const bool page = cli::save(out_ / "faults.md", report::fault_matrix_markdown(cells));
  if (!cli::save(out_ / "faults.json", report::fault_matrix_json(cells)) || !page) ++failures_;
}

}  // namespace

command_action faults_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<faults_options>();
  app.add_option("scenarios", g->scenarios, "names or globs, or all; without one, what there is")
      ->type_name("SCENARIO");
  app.add_option("--locks", g->locks, "only locks that match")
      ->type_name("LOCK")
      ->capture_default_str();
  app.add_option("--topologies", g->topologies, "only topologies that match")
      ->type_name("TOPOLOGY")
      ->capture_default_str();
  app.add_option("--repeat", g->repeat, "how often each is tried")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  declare_set(app, g->set, "overrides every job");
  declare_page_format(app, g->format);
  declare(app, "--out", g->out, "DIR", "faults.md, faults.json and the run folders appear in here");
  app.add_flag("--quiet", g->quiet, "no progress");
  app.footer(
      "Exit status: 0 no violation; 1 a violation, also one that was to be expected of that lock;\n"
      "2 wrong usage, or a run failed; 3 interrupted.\n"
      "Examples:\n"
      "  lockmark faults holder_paused --locks redis/lua\n"
      "  lockmark faults 'redlock_*' --repeat 5\n"
      "  lockmark faults all --topologies zookeeper-3");
  return [c, g] {
    if (g->scenarios.empty()) return print_scenarios();
    check_names(*g);
    interrupts();
    return matrix_maker(c, *g).make();
  };
}

}  // namespace lockmark::cli
