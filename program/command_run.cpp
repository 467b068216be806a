#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "harness/report/junit.hpp"
#include "harness/report/run_text.hpp"
#include "program/agents.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/execute.hpp"
#include "program/explain.hpp"
#include "program/jobs.hpp"
#include "program/limits.hpp"
#include "program/output_file.hpp"
#include "program/progress.hpp"
#include "program/short_options.hpp"
#include "program/terminal.hpp"
#include "program/watching.hpp"

namespace lockmark::cli {
namespace {

struct run_options {
  std::string job;
  std::string target;
  short_options given;
  std::vector<std::string> set;
  std::string out = "runs";
  std::string junit;
  std::string format = "text";
  limit_texts limits;
  bool explain = false;
  bool history = false;
  bool quiet = false;
  watching watched;
  agent_options agents;
};

// Own servers for the lock that is named: of the first form that it declares.
std::string usual_target(const catalogue& known, const config::job& job) {
  const std::string_view all = known.lock(job.lock).topologies;
  const std::string_view first = all.substr(0, all.find(' '));
  if (first == "memory") return "memory:";
  if (first == "exec") {
    throw usage_error(
        "--on: lock {} needs the command of a lock client, such as "
        "'exec:python3 my_lock.py'",
        job.lock);
  }
  return fmt::format("local:{}", first);
}

executed measure(const context& c, const run_options& g, const named_job& job,
                 const std::vector<gate::threshold>& limits, metrics::exporter* exporter,
                 agent_group* from) {
  progress_display display(job.name, g.quiet);
  const std::string target = g.target.empty() ? usual_target(c.known, job.job) : g.target;
  if (target.starts_with("local:")) display.announce("starting servers");
  resolved_target where = resolve_target(target, inject::needs_of(job.job));
  display.announce("connecting");
  run_request e{job.job, job.name, g.out, c.arguments, {}, {}, exporter};
  e.history = g.history;
  e.from = from;
  e.is_enough = watch_limits(limits);
  e.on_finding = [&display, &g](const std::string& sentence) {
    if (g.quiet) return;
    display.clear();
    fmt::print(stderr, "lockmark: before the run: {}\n", sentence);
  };
  e.on_progress = [&display](const run::progress& p) { display.show(p); };
  return execute(c.known, where, std::move(e));
}

// What a terminal shows, or run.json, beside which nothing else may stand on stdout.
void print_run(const executed& done, bool is_data) {
  if (is_data) {
    fmt::print("{}\n", done.written.content.dump(2));
  } else {
    fmt::print("{}", report::run_summary_terminal(done.written, width_of(stdout),
                                                  style_of(screen_of(stdout))));
  }
  fmt::print(is_data ? stderr : stdout, "run folder: {}\n", done.folder.string());
}

// Prints the limits that a complete and valid run breaks, and adds them to the JUnit case.
bool breaks_limits(const std::vector<gate::threshold>& limits, const executed& done,
                   report::test_case& c, bool is_data) {
  if (done.result.how != run::ending::complete || !done.result.verdict.valid) return false;
  const auto broken = broken_limits(limits, done.written);
  if (broken.empty()) return false;
  const std::string early = done.ended_early ? "; ended early, for that was beyond doubt" : "";
  const std::string message = fmt::format("{}{}", fmt::join(broken, "; "), early);
  fmt::print(is_data ? stderr : stdout, "FAILED: {}\n", message);
  if (c.how != report::test_case::outcome::failed) {
    c.how = report::test_case::outcome::failed;
    c.type = "threshold";
    c.message = message;
  }
  return true;
}

int run(const context& c, const run_options& g) {
  interrupts();
  const named_job job = find_job(g.job, g.given, g.set);
  if (g.explain) {
    print_result(explained(job, idea_of(find_job_text(g.job).yaml)));
    return 0;
  }
  if (g.target.empty() && job.job.lock.empty()) {
    throw usage_error(
        "--on: say where to run: a URL such as redis://host:port, local:redis, local:zookeeper, "
        "local:mysql, or memory:");
  }
  const auto exporter = start_watching(g.watched);
  const auto limits = read_limits(g.limits);
  const output_file junit("--junit", g.junit);
  const auto from = gather_agents(g.agents, g.quiet);
  std::optional<executed> done;
  try {
    done = measure(c, g, job, limits, exporter.get(), from.get());
  } catch (const std::exception& e) {
    const std::string lock = job.job.lock.empty() ? "lockmark run" : job.job.lock;
    if (junit) junit.write(report::junit_xml({report::unmeasured(job.name, lock, e.what())}));
    throw;
  }
  const bool is_data = g.format == "json";
  print_run(*done, is_data);
  report::test_case said = report::test_case_of(done->written);
  bool broken = false;
  try {
    broken = breaks_limits(limits, *done, said, is_data);
  } catch (const usage_error& e) {
    if (junit) junit.write(report::junit_xml({report::unmeasured(job.name, said.name, e.what())}));
    throw;
  }
  if (junit) junit.write(report::junit_xml({said}));
  std::fflush(stdout);
  if (!done->result.why.empty()) fmt::print(stderr, "lockmark: {}\n", done->result.why);
  end_watching(exporter.get());
  const int status = exit_status(done->result);
  return broken && status == 0 ? 1 : status;
}

}  // namespace

command_action run_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<run_options>();
  app.add_option("job", g->job, "a job file, or the name of a shipped job: " + shipped_job_names())
      ->type_name("JOB")
      ->required();
  app.add_option("--on", g->target, "target: a URL, local:NAME or memory:")
      ->type_name("TARGET")
      ->envname("LOCKMARK_TARGET");
  declare_short(app, g->given);
  declare_set(app, g->set, "overrides the job, and what is above; may be given more than once");
  app.add_flag("--explain", g->explain,
               "only says what the job does and how long it takes; runs nothing");
  declare(app, "--out", g->out, "DIR", "the run folder appears in this folder");
  declare_format(app, g->format, "text, or json: what run.json holds", {"text", "json"});
  declare(app, "--junit", g->junit, "FILE", "also writes the verdict as JUnit XML");
  declare_limits(app, g->limits);
  app.add_flag("--history", g->history,
               "also writes history.edn for Jepsen's checkers: 400 bytes for each acquire and "
               "release, in memory for a moment and then on the disk");
  app.add_flag("--quiet", g->quiet, "nothing on stderr but errors");
  declare_watching(app, g->watched);
  declare_agents(app, g->agents);
  app.footer(
      "Exit status: 0 held, or not tested; 1 the lock or a limit failed; 2 wrong usage or no "
      "server;\n"
      "3 inconclusive or INVALID.\n"
      "Examples:\n"
      "  lockmark run contended --on local:redis --duration 10s\n"
      "  lockmark run open_rate --on redis://10.0.0.1:6379 --rate 100/s --require 'p99<20ms'\n"
      "  lockmark run my.yaml --on zookeeper://zk1,zk2,zk3 --lock zookeeper/sequential\n"
      "Keys of a job:\n" +
      config::help_text());
  return [c, g] { return run(c, *g); };
}

}  // namespace lockmark::cli
