// lockmark merge: the run of which agents kept their parts, because their coordinator was lost.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "harness/agents/merge_parts.hpp"
#include "harness/report/read.hpp"
#include "harness/report/run_text.hpp"
#include "harness/run/folder.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/execute.hpp"
#include "program/terminal.hpp"

namespace lockmark::cli {
namespace {

struct merge_options {
  std::vector<std::string> folders;
  std::string out = "runs";
};

int merge(const context& c, const merge_options& g) {
  const real_clock clock;
  agents::parts parts(clock, {g.folders.begin(), g.folders.end()});
  config::job job = parts.job();
  const lock_kind& lock = c.known.lock_for(job);
  run::run_folder folder(std::filesystem::path(g.out) / fmt::format("{}-merged", parts.run_id()),
                         job);
  run::result r;
  try {
    r = parts.merge(
        lock, c.known.workload(job.workload), "merged",
        [&folder](const run::result& known) { folder.begin(known); },
        [&folder](const run::interval& i, std::int64_t at_ns) { folder.add(i, at_ns); });
  } catch (const usage_error&) {
    std::filesystem::remove_all(folder.path());
    throw;
  }
  const report::recorded_run written{folder.path().filename().string(), folder.finish(r)};
  fmt::print("{}",
             report::run_summary_terminal(written, width_of(stdout), style_of(screen_of(stdout))));
  fmt::print("run folder: {}\n", folder.path().string());
  fmt::print(stderr, "lockmark: {}\n", r.why);
  return exit_status(r);
}

}  // namespace

command_action merge_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<merge_options>();
  app.add_option("folders", g->folders, "what agents said that they kept, one folder of each")
      ->type_name("DIR")
      ->required();
  declare(app, "--out", g->out, "DIR", "the run folder appears in this folder");
  app.footer(
      "The measurement ends with the last half second that all of them have. Exit status: 1 the "
      "lock\n"
      "failed; 2 wrong usage; 3 otherwise, because a run that lost its coordinator is incomplete.\n"
      "Example:\n"
      "  lockmark merge runs/part-*");
  return [c, g] { return merge(c, *g); };
}

}  // namespace lockmark::cli
