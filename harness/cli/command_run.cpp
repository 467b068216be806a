#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/cli/execute.hpp"
#include "harness/cli/jobs.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/terminal.hpp"
#include "harness/cli/watching.hpp"
#include "harness/report/run_text.hpp"

namespace lockmark::cli {
namespace {

struct given {
  std::string job;
  std::string target;
  std::vector<std::string> set;
  std::string out = "runs";
  bool quiet = false;
  watching watched;
};

// Servers of its own for a lock that is named: the first form that it declares.
std::string usual_target(const catalogue& known, const config::job& job) {
  const std::string_view all = known.lock(job.lock).topologies;
  const std::string_view first = all.substr(0, all.find(' '));
  if (first == "memory") return "memory:";
  if (first == "exec") {
    throw usage_error(
        fmt::format("--on: lock {} needs the command of a lock client, such as "
                    "'exec:python3 my_lock.py'",
                    job.lock));
  }
  return fmt::format("local:{}", first);
}

int run(const context& c, const given& g) {
  interrupts();
  const named_job job = find_job(g.job, g.set);
  if (g.target.empty() && job.job.lock.empty()) {
    throw usage_error(
        "--on: say where to run: a URL such as redis://host:port, local:redis, local:zookeeper, "
        "local:mysql, or memory:");
  }
  const auto exporter = start_watching(g.watched);
  const place where = find_place(g.target.empty() ? usual_target(c.known, job.job) : g.target);
  errand e{job.job, job.name, g.out, c.arguments, {}, {}, exporter.get()};
  progress_display display(job.name, g.quiet);
  e.on_finding = [&display](const std::string& sentence) {
    display.clear();
    fmt::print(stderr, "lockmark: before the run: {}\n", sentence);
  };
  e.on_progress = [&display](const run::progress& p) { display.show(p); };
  const executed done = execute(c.known, where, std::move(e));
  display.clear();
  fmt::print("{}", report::run_summary_terminal(done.written, width_of(stdout)));
  fmt::print("run folder: {}\n", done.folder.string());
  std::fflush(stdout);
  if (!done.result.why.empty()) fmt::print(stderr, "lockmark: {}\n", done.result.why);
  end_watching(exporter.get());
  return exit_status(done.result);
}

}  // namespace

command run_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<given>();
  app.add_option("job", g->job, "a job file, or the name of a shipped job: " + shipped_job_names())
      ->required();
  app.add_option("--on", g->target, "target: a URL, local:NAME or memory:");
  app.add_option("--set", g->set, "KEY=VALUE: overrides the job; may be given more than once")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--out", g->out, "the run folder appears in this folder")->capture_default_str();
  app.add_flag("--quiet", g->quiet, "no progress");
  declare_watching(app, g->watched);
  app.footer("Keys of a job:\n" + config::help_text());
  return [c, g] { return run(c, *g); };
}

}  // namespace lockmark::cli
