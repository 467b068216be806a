// How much can a lock bear? The highest rate that meets an objective, a contention sweep, a plan.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "harness/base/files.hpp"
#include "harness/capacity/study.hpp"
#include "program/agents.hpp"
#include "program/capacity_runs.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/jobs.hpp"
#include "program/output_file.hpp"
#include "program/progress.hpp"
#include "program/terminal.hpp"
#include "program/trial.hpp"

namespace lockmark::cli {
namespace {

struct capacity_options {
  std::string job;
  std::string target;
  std::vector<std::string> slos;
  std::string want;
  std::string probe = config::print_duration(capacity::usual_probe);
  std::string probe_at_most = "5m";
  std::string cell = "5s";
  bool sweep = false;
  std::vector<std::uint64_t> clients;  // empty: the usual ones
  std::vector<std::string> keys;
  std::vector<std::string> holds;
  std::uint64_t repeats = 1;
  std::vector<std::string> set;
  std::string format = "md";
  std::string out = "runs/capacity";
  bool quiet = false;
  agent_options agents;
};

// The value of an option. Throws a sentence that names the option.
template <class T>
T value_of(const char* option, const config::parsed<T>& value) {
  if (!value) throw usage_error("{}: {}", option, value.error().sentence);
  return *value;
}

duration time_of(const char* option, const std::string& text) {
  const duration d = value_of(option, config::parse_duration(text));
  if (d >= std::chrono::seconds{4}) return d;
  throw usage_error(
      "{}: {} is shorter than 4s, in which nothing can be told from "
      "chance",
      option, text);
}

capacity::settings settings_of(const capacity_options& g) {
  capacity::settings s;
  for (const std::string& slo : g.slos) {
    s.objectives.push_back(value_of("--slo", capacity::parse_objective(slo)));
  }
  s.probe = time_of("--probe", g.probe);
  s.probe_at_most = time_of("--probe-at-most", g.probe_at_most);
  if (s.probe_at_most < s.probe) {
    throw usage_error("--probe-at-most: {} is shorter than --probe, {}", g.probe_at_most, g.probe);
  }
  s.cell = time_of("--cell", g.cell);
  if (!g.want.empty()) s.wanted_per_s = value_of("--want", config::parse_rate(g.want)).per_second();
  s.sweeps = g.sweep || !g.clients.empty() || !g.keys.empty() || !g.holds.empty();
  s.clients = g.clients.empty() ? std::vector<std::uint64_t>{1, 4, 16, 64} : g.clients;
  for (const std::string& k : g.keys) {
    s.keys.push_back(value_of("--keys", config::parse_key_choice(k)));
  }
  for (const std::string& h : g.holds) {
    s.holds.push_back(value_of("--holds", config::parse_distribution(h)));
  }
  s.repeats = g.repeats;
  return s;
}

capacity::subject subject_of(const catalogue& known, const resolved_target& where,
                             const named_job& job) {
  if (job.job.read_share > 0) {
    throw usage_error(
        "read_share: capacity has a model only of locks that one client holds at a time");
  }
  const lock_kind& lock = known.lock(job.job.lock);
  capacity::subject what;
  what.lock = lock.name;
  what.topology = where.topology;
  what.target = where.redacted;
  what.scenario = job.name;
  what.fair = lock.has.has(feature::fair);
  what.optimistic = lock.has.has(feature::optimistic);
  what.renewable = lock.has.has(feature::renewable);
  what.leased = lock.has.has(feature::lease);
  what.shares_session = lock.has.has(feature::session_timeout);
  what.in_memory = where.form == "memory";
  return what;
}

void add_notes(capacity::findings& f) {
  if (f.what.in_memory) {
    f.notes.push_back(
        "A memory target has no server: these figures measure the harness, not a lock service.");
  }
  if (f.what.optimistic) {
    f.notes.push_back(
        "An optimistic lock excludes nobody: there is no hand-off, no bound and no queue to "
        "predict, and a conflict counts as a try that failed.");
  }
}

bool save_study(const capacity::findings& f, const std::filesystem::path& out) {
  create_private_folders(out);
  const bool page = save(out / "capacity.md", capacity::to_markdown(f));
  return save(out / "capacity.json", capacity::to_json(f).dump(2) + "\n") && page;
}

int finish(const capacity_options& g, const capacity::findings& f, int status) {
  const bool saved = save_study(f, g.out);
  print_result(g.format == "json" ? capacity::to_json(f).dump(2) + "\n" : capacity::to_markdown(f));
  if (!g.quiet) fmt::print(stderr, "report and run folders: {}\n", g.out);
  if (status != 0) return status;
  if (!saved) return 2;
  return f.limited_by_harness ? 3 : 0;
}

int study(const context& c, const capacity_options& g) {
  interrupts();
  const capacity::settings s = settings_of(g);
  named_job job = find_job(g.job, g.set);
  capacity::check_study(job.job, job.name, s);
  if (g.target.empty()) {
    throw usage_error(
        "--on: say where: a URL such as redis://host:port, local:redis, local:zookeeper, "
        "local:mysql, or memory:");
  }
  const auto from = gather_agents(g.agents, g.quiet);
  std::optional<resolved_target> where;
  {
    progress_display display("lockmark capacity", g.quiet);
    if (g.target.starts_with("local:")) display.announce("starting servers");
    where = resolve_target(g.target);
  }
  if (job.job.lock.empty()) job.job.lock = c.known.usual_lock(where->form, job.job);
  capacity_runs runs(c, *where, job.name, g.out, s.objectives, g.quiet, from.get());
  capacity::study all(
      subject_of(c.known, *where, job), job.job, s,
      [&runs](const config::job& j, const std::string& title) { return runs.make(j, title); },
      [&g](const capacity::findings& f) { save_study(f, g.out); });
  all.found().arguments = c.arguments;
  add_notes(all.found());
  if (all.found().what.in_memory && !g.quiet) {
    fmt::print(stderr, "lockmark: {}\n", all.found().notes.front());
  }
  try {
    all.find_rate();
    all.plan();
    all.sweep();
  } catch (const study_ended& end) {
    fmt::print(stderr, "lockmark: {}\n", end.what());
    all.found().notes.push_back(fmt::format("Ended early: {}.", end.what()));
    return finish(g, all.found(), end.status);
  }
  return finish(g, all.found(), 0);
}

void declare_sweep(CLI::App& app, capacity_options& g) {
  app.add_flag(
      "--sweep", g.sweep,
      "also the contention sweep, some minutes more; --clients, --keys and --holds imply it");
  app.add_option("--clients", g.clients, "numbers of clients of the sweep; preset: 1,4,16,64")
      ->type_name("NUMBER")
      ->delimiter(',')
      ->check(CLI::Range(1, 100'000));
  declare_each(app, "--keys", g.keys, "KEYS",
               "keys of the sweep, such as one, 'uniform(16)' or own; none: the job's");
  declare_each(app, "--holds", g.holds, "HOLD", "holds of the sweep, such as 1ms; none: the job's");
  app.add_option("--repeat", g.repeats, "runs of each combination of the sweep")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  declare(app, "--cell", g.cell, "TIME",
          "length of each run of the sweep, and of those before the search");
}

}  // namespace

command_action capacity_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<capacity_options>();
  app.add_option("job", g->job,
                 "a job whose loop is open or poisson: a file, or a shipped one's "
                 "name such as hot_lock")
      ->type_name("JOB")
      ->required();
  declare(app, "--on", g->target, "TARGET", "target: a URL, local:NAME or memory:");
  declare_each(app, "--slo", g->slos, "OBJECTIVE",
               "what must hold, such as 'p99<20ms'; all that are given must");
  declare(app, "--want", g->want, "RATE",
          "the rate to plan for, such as 2000/s; none: 80 % of the found");
  declare(app, "--probe", g->probe, "TIME",
          "length of a probe; confirmations last 2 to 32 times as long");
  declare(app, "--probe-at-most", g->probe_at_most, "TIME",
          "how much longer a probe may be for want of attempts");
  declare_sweep(app, *g);
  declare_set(app, g->set, "overrides the job; may be given more than once");
  declare_format(app, g->format, "md or json", {"md", "json"});
  declare(app, "--out", g->out, "DIR",
          "capacity.md, capacity.json and the run folders appear in here");
  app.add_flag("--quiet", g->quiet, "nothing on stderr but errors");
  declare_agents(app, g->agents);
  app.footer(
      "Exit status: 0 a rate was found; 1 a lock failed; 2 wrong usage or no server; 3 "
      "inconclusive.\n"
      "Example:\n"
      "  lockmark capacity hot_lock --on local:redis --slo 'p99<50ms' --want 1000/s");
  return [c, g] { return study(c, *g); };
}

}  // namespace lockmark::cli
