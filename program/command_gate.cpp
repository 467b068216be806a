// Has performance regressed? Compares two sides by interleaved pairs of runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>

#include "harness/base/files.hpp"
#include "harness/config/quantity.hpp"
#include "harness/gate/metrics.hpp"
#include "harness/run/result_json.hpp"
#include "program/agents.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/execute.hpp"
#include "program/gate_bench.hpp"
#include "program/limits.hpp"
#include "program/output_file.hpp"
#include "program/terminal.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;

struct gate_options {
  std::string job;
  std::string target;
  std::vector<std::string> set;
  std::vector<std::string> baseline;
  std::vector<std::string> candidate;
  std::vector<std::string> against;
  bool quick = false;
  bool full = false;
  std::string block;
  std::vector<std::string> metrics;
  std::vector<std::string> tolerated;
  limit_texts limits;
  std::optional<std::uint64_t> seed;
  std::string format = "text";
  std::string out = "runs";
  std::string junit;
  std::string history;
  std::string otava;
  bool quiet = false;
  agent_options agents;
};

// The length of each run. Without repeated ones a session has 20 or 60 of
// them: one or three minutes, or three or ten.
struct depth {
  duration warmup;
  duration block;
  duration floor;
};
constexpr depth quick_depth{200ms, 1s, 200ms};
constexpr depth full_depth{1s, 6s, 500ms};

std::vector<std::string> depth_of(const gate_options& g) {
  depth d = g.quick ? quick_depth : full_depth;
  if (!g.block.empty()) {
    const auto block = config::parse_duration(g.block);
    if (!block) throw usage_error("--block: {}", block.error().sentence);
    if (*block < 500ms) throw usage_error("--block: must be at least 500ms");
    d.block = *block;
  }
  return {fmt::format("warmup={}", config::print_duration(d.warmup)),
          fmt::format("floor={}", config::print_duration(d.floor)), "stop.samples=0",
          fmt::format("stop.duration={}", config::print_duration(d.block)),
          fmt::format("stop.at_most={}", config::print_duration(3 * d.block))};
}

void check_metric(const char* option, const std::string& name) {
  const auto known = gate::known_metrics(true);
  if (std::ranges::find(known, name, &gate::metric::name) != known.end()) return;
  throw usage_error("{}: there is no metric {}; known are {}", option, config::in_quotes(name),
                    gate::known_metric_names());
}

std::map<std::string, double> tolerances(const std::vector<std::string>& texts) {
  std::map<std::string, double> all;
  for (const std::string& text : texts) {
    const auto equals = std::min(text.find('='), text.size());
    check_metric("--tolerate", text.substr(0, equals));
    std::string share = text.substr(std::min(equals + 1, text.size()));
    if (share.ends_with('%')) share.pop_back();
    const auto percent = config::parse_number(share);
    if (!percent || *percent < 0 || *percent > 1000) {
      throw usage_error(
          "--tolerate: expected METRIC=SHARE, such as acquire_p99=20%, "
          "not {}",
          config::in_quotes(text));
    }
    all[text.substr(0, equals)] = *percent / 100;
  }
  return all;
}

gate_plan plan_of(const gate_options& g) {
  if (g.against.empty() && g.baseline.empty() && g.candidate.empty()) {
    throw usage_error(
        "--baseline, --candidate: say what differs between the two, such as --baseline "
        "on=redis://old --candidate on=redis://new; or give stored runs by --against");
  }
  if (!g.against.empty() && !g.baseline.empty()) {
    throw usage_error("--against: is in place of --baseline; give one of them");
  }
  gate_plan plan;
  gate_side common;
  common.program = this_lockmark;
  common.target = g.target;
  common.set = depth_of(g);
  common.set.insert(common.set.end(), g.set.begin(), g.set.end());
  plan.job = g.job;
  plan.candidate = read_side(common, "candidate", g.candidate);
  plan.baseline = read_side(common, "baseline", g.baseline);
  plan.against = g.against;
  plan.agents = agent_arguments(g.agents);
  for (const std::string& name : g.metrics) {
    check_metric("--metrics", name);
    plan.metrics.push_back({name});
  }
  // The p99 of one second is mostly noise, and rests on few attempts.
  if (g.quick && g.metrics.empty()) plan.left_out = {"acquire_p99"};
  plan.tolerated = tolerances(g.tolerated);
  plan.limits = read_limits(g.limits);
  plan.seed = g.seed ? *g.seed : std::random_device{}();
  plan.out = std::filesystem::path(g.out) / fmt::format("gate-{}", compact_utc(wall_time_ns()));
  plan.quiet = g.quiet;
  return plan;
}

std::string printed(const gate::outcome& o, const std::string& format) {
  if (format == "md") return gate::outcome_markdown(o);
  if (format == "json") return run::dump(gate::outcome_json(o));
  return gate::outcome_text(o, style_of(screen_of(stdout)));
}

void append(const std::string& file, const std::string& line) {
  try {
    append_to_file(file, line);
  } catch (const file_error& e) {
    throw usage_error("--history: {}", e.what());
  }
}

int run(const gate_options& g) {
  if (!g.otava.empty() && g.history.empty()) {
    throw usage_error("--otava: exports the file of --history; give that as well");
  }
  const output_file junit("--junit", g.junit);
  const output_file otava("--otava", g.otava);
  if (!g.history.empty()) append(g.history, "");
  const gate_plan plan = plan_of(g);
  std::optional<gate::outcome> o;
  try {
    o = gate_bench(plan).measure();
  } catch (const std::exception& e) {
    const std::string suite = fmt::format("gate {}", g.job);
    if (junit) junit.write(report::junit_xml({report::unmeasured(suite, "session", e.what())}));
    throw;
  }
  output_file("--out", plan.out / "gate.json").write(run::dump(gate::outcome_json(*o)));
  output_file("--out", plan.out / "gate.md").write(gate::outcome_markdown(*o));
  if (junit) junit.write(report::junit_xml(gate::outcome_cases(*o)));
  if (!g.history.empty()) append(g.history, gate::history_line(*o));
  if (otava) otava.write(gate::otava_csv(readable_text(g.history), g.history));
  print_result(printed(*o, g.format));
  if (!g.quiet) fmt::print(stderr, "session and run folders: {}\n", plan.out.string());
  return gate::exit_status(*o);
}

void declare_sides(CLI::App& app, gate_options& g) {
  app.add_option("job", g.job, "a job file, or the name of a shipped job: " + shipped_job_names())
      ->type_name("JOB")
      ->required();
  declare(app, "--on", g.target, "TARGET", "target of both sides: a URL, local:NAME or memory:");
  declare_set(app, g.set, "overrides the job of both sides; may be given more than once");
  declare_each(
      app, "--baseline", g.baseline, "SIDE",
      "what is the baseline's alone: 'on=TARGET lock=LOCK KEY=VALUE with=LOCKMARK', any of these; "
      "with= runs another lockmark");
  declare_each(app, "--candidate", g.candidate, "SIDE", "what is the candidate's alone, likewise");
  declare(app, "--against", g.against, "RUN",
          "stored runs, or the folder of a gate, in place of a baseline; fewer than ten of them, "
          "or those of another machine, only warn");
}

void declare_depth(CLI::App& app, gate_options& g) {
  auto* const quick =
      app.add_flag("--quick", g.quick, "runs of 1 s, without acquire_p99: one minute, or three");
  app.add_flag("--full", g.full, "runs of 6 s: ten minutes at most (the default)")->excludes(quick);
  declare(app, "--block", g.block, "DURATION", "how long each run is measured, such as 20s");
  app.add_option("--metrics", g.metrics,
                 fmt::format("only these, of {}; without it, all that the runs have",
                             gate::known_metric_names()))
      ->type_name("METRIC")
      ->delimiter(',');
  declare_each(app, "--tolerate", g.tolerated, "METRIC=SHARE",
               "regression to tolerate, such as acquire_p99=20%; may be given more than "
               "once");
  declare_limits(app, g.limits);
  app.add_option("--seed", g.seed,
                 "repeats the order of the sides and the load of a session that had this seed; "
                 "without it, a new one is drawn and told")
      ->type_name("N");
}

void declare_outputs(CLI::App& app, gate_options& g) {
  declare_format(app, g.format, "text, md (for a pull request) or json", {"text", "md", "json"});
  declare(app, "--out", g.out, "DIR",
          "a folder of this session, with its run folders, appears in here");
  declare(app, "--junit", g.junit, "FILE", "also writes the verdicts as JUnit XML");
  declare(app, "--history", g.history, "FILE", "appends one line of JSON to this file");
  declare(app, "--otava", g.otava, "FILE", "writes the history as CSV for Apache Otava");
  app.add_flag("--quiet", g.quiet, "nothing on stderr but errors");
}

}  // namespace

command_action gate_command(CLI::App& app, const context&) {
  const auto g = std::make_shared<gate_options>();
  declare_sides(app, *g);
  declare_depth(app, *g);
  declare_outputs(app, *g);
  declare_agents(app, g->agents);
  app.footer(
      "Exit status: 0 PASS; 1 REGRESSION; 2 wrong usage or no server; 3 INCONCLUSIVE.\n"
      "Examples:\n"
      "  lockmark gate contended --set lock=redis/lua --baseline on=redis://old "
      "--candidate on=redis://new\n"
      "  lockmark gate uncontended --on local:redis --baseline lock=redis/lua "
      "--candidate lock=redis/redisson\n"
      "  lockmark gate contended --on local:redis --baseline with=../main/lockmark\n");
  return [g] { return run(*g); };
}

}  // namespace lockmark::cli
