// A tour without questions: a lock of many articles is broken on one Redis, before the user's eyes,
// and then held.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "harness/report/hold_bars.hpp"
#include "harness/report/html/page.hpp"
#include "harness/report/run_text.hpp"
#include "harness/report/text.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/execute.hpp"
#include "program/next_step.hpp"
#include "program/output_file.hpp"
#include "program/terminal.hpp"
#include "program/trial.hpp"

namespace lockmark::cli {
namespace {

struct scene {
  const char* title;
  const char* story;
  const char* job;
  std::vector<std::string> set;
  const char* seen;  // said if two held the key
  const char* not_seen;
};

std::vector<scene> scenes() {
  return {
      {"1. SET NX PX, and DEL to release",
       "Four processes want one key, each for 1.5 s, on a lease of 2 s. The first is stopped for "
       "3 s, as by a garbage collection or a move to another host. Then it goes on, and deletes "
       "the key, whoever has it by now.",
       "faults/stale_release",
       {"lock=redis/set_nx_px", "options.release=del"},
       "Its lease ended while it was stopped, so the next one came in; and what it deleted was no "
       "longer its own, so a third came in, too.",
       "Two did not meet this time."},
      {"2. The same, with a release that looks whose key it is",
       "DEL only if the value is still one's own, by a script.",
       "faults/stale_release",
       {"lock=redis/lua"},
       "Nobody deletes another's key any more. But who was stopped for longer than its lease still "
       "works on as if it had the lock.",
       "Two did not meet this time."},
      {"3. The same, with holders that look at their lease before they go on",
       "A client knows when its lease ends, and leaves the resource alone from then on.",
       "faults/stale_release",
       {"lock=redis/lua", "holder=careful"},
       "That was not to be expected: please tell the developers.",
       "One at a time. What is left is a request that is still under way when the lease ends: a "
       "fencing token lets the resource refuse it."},
  };
}

struct try_options {
  std::string out = "runs/try";
  bool quiet = false;
};

std::size_t text_width() {
  return std::min<std::size_t>(width_of(stdout), 100);
}

void print_wrapped(const std::string& text) {
  for (const std::string& line : report::wrapped(text, text_width())) fmt::print("{}\n", line);
}

report::recorded_run play(const context& c, const try_options& g, const scene& s) {
  fmt::print("\n{}\n", s.title);
  print_wrapped(s.story);
  std::fflush(stdout);
  const trial t{.title = s.title, .job = s.job, .topology = "redis", .query = "", .set = s.set};
  report::recorded_run run = run_trial(c, t, g.out, g.quiet);
  const auto& examples = run.content.at("safety").at("examples");
  fmt::print("\n{}", report::hold_bars(examples, text_width()));
  if (!examples.empty()) fmt::print("(X: two at once)\n");
  print_wrapped(report::verdict_sentence(run));
  print_wrapped(examples.empty() ? s.not_seen : s.seen);
  std::fflush(stdout);
  return run;
}

int tour(const context& c, const try_options& g) {
  interrupts();
  print_wrapped(
      "A lock is to let one client in at a time. This breaks one, on a Redis that is started for "
      "it, and shows who held the key when. It takes about half a minute.");
  std::vector<std::filesystem::path> folders;
  for (const scene& s : scenes()) {
    if (interrupts() > 0) return 3;
    folders.emplace_back(std::filesystem::path(g.out) / play(c, g, s).name);
  }
  const std::filesystem::path page = std::filesystem::path(g.out) / "report.html";
  if (!save(page, report::html::page(folders, report::html::order::as_given))) return 2;
  fmt::print(
      "\nThe whole report: {}\n"
      "Next, the lock's cost on a server of yours, and the same accident to every Redis lock:\n"
      "  {name} run contended --on redis://YOUR-HOST:6379\n"
      "  {name} faults holder_paused --locks 'redis/*'\n",
      page.string(), fmt::arg("name", own_name(c)));
  return 0;
}

}  // namespace

command_action try_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<try_options>();
  declare(app, "--out", g->out, "DIR", "report.html and the run folders appear in here");
  app.add_flag("--quiet", g->quiet, "no progress");
  app.footer("Exit status: 0 it was shown; 2 no Redis could be started; 3 interrupted.");
  return [c, g] { return tour(c, *g); };
}

}  // namespace lockmark::cli
