// Common claims about distributed locks, put to the test.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "harness/base/files.hpp"
#include "harness/claims/report.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/execute.hpp"
#include "program/next_step.hpp"
#include "program/output_file.hpp"
#include "program/terminal.hpp"
#include "program/trial.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::cli {
namespace {

constexpr std::uint64_t most_repetitions = 20;

bool is_fault(const claims::experiment& x) {
  return x.job.starts_with("faults/");
}

struct claims_options {
  std::vector<std::string> ids;  // empty: all
  bool quick = false;
  bool full = false;
  bool list = false;
  std::string format;
  std::string out = "runs/claims";
  bool quiet = false;

  // By chance three runs differ from three others once in ten times, five from five once in 126. A
  // lock that a fault breaks in one of seven phases shows it in 20 with 95 %.
  std::uint64_t repetitions_of(const claims::experiment& x) const {
    if (is_fault(x)) return full ? most_repetitions : 1;
    return full ? 5 : 3;
  }
};

// "7" selects 7a, 7b and so on.
bool wanted(const claims_options& g, const claims::claim& c) {
  if (g.ids.empty()) return true;
  return std::ranges::any_of(g.ids, [&](const std::string& id) {
    return c.id == id || (c.id.size() == id.size() + 1 && c.id.starts_with(id) &&
                          std::isalpha(static_cast<unsigned char>(c.id.back())) != 0);
  });
}

std::vector<claims::claim> chosen(const claims_options& g) {
  auto all = claims::read_claims(workloads::shipped_claims(), "claims.yaml");
  std::vector<std::string> ids;
  for (const auto& c : all) ids.push_back(c.id);
  std::erase_if(all, [&](const claims::claim& c) { return !wanted(g, c); });
  if (all.empty()) {
    throw usage_error("no claim \"{}\"; known are {}", fmt::join(g.ids, " "), fmt::join(ids, ", "));
  }
  return all;
}

trial trial_of(const claims::claim& c, const claims::experiment& x, std::uint64_t repetition) {
  trial t{fmt::format("claim {}: {}", c.id, x.label), x.job, x.topology, "", {}};
  if (is_fault(x)) t.set = phase_of(x.job, repetition);
  t.set.insert(t.set.end(), {fmt::format("lock={}", x.lock), seed_of(repetition)});
  t.set.insert(t.set.end(), x.set.begin(), x.set.end());
  return t;
}

// Repeats all experiments in turn, so that a machine that slows down affects all of them. A failing
// trial does not stop the others.
claims::evidence gather(const context& c, const claims_options& g, const claims::claim& what,
                        int& failures) {
  claims::runs_by_label runs;
  for (std::uint64_t i = 0; i < most_repetitions; ++i) {
    for (const claims::experiment& x : what.experiments) {
      if (interrupts() > 0 || i >= g.repetitions_of(x)) continue;
      const trial t = trial_of(what, x, i);
      try {
        runs[x.label].push_back(run_trial(c, t, g.out, g.quiet));
      } catch (const std::runtime_error& failure) {
        fmt::print(stderr, "lockmark: {}: {}\n", t.title, failure.what());
        ++failures;
      }
    }
  }
  return claims::evidence(std::move(runs));
}

bool save_claims(const std::filesystem::path& out, const std::vector<claims::tested>& all) {
  create_private_folders(out);
  const bool page = save(out / "claims.md", claims::to_markdown(all));
  return save(out / "claims.json", claims::to_json(all)) && page;
}

std::string shown(const context& c, const std::string& format,
                  const std::vector<claims::tested>& all) {
  if (format == "json") return claims::to_json(all);
  if (format == "md") return claims::to_markdown(all);
  return claims::to_text(all, width_of(stdout), own_name(c));
}

int put_to_the_test(const context& c, const claims_options& g) {
  std::vector<claims::tested> all;
  int failures = 0;
  for (const claims::claim& what : chosen(g)) {
    if (interrupts() > 0) break;
    claims::evidence found = gather(c, g, what, failures);
    const claims::judgement verdict = judge(what, found);
    if (!g.quiet) {
      fmt::print(stderr, "claim {}: {}: {}\n", what.id, claims::name_of(verdict.is),
                 verdict.because);
    }
    all.push_back({what, std::move(found), verdict});
    if (!save_claims(g.out, all)) ++failures;
  }
  print_result(shown(c, page_format(g.format), all));
  fmt::print(stderr, "claims and run folders: {}\n", g.out);
  if (failures > 0) return 2;
  return interrupts() > 0 ? 3 : 0;
}

int print_list(const claims_options& g) {
  for (const claims::claim& c : chosen(g)) {
    fmt::print("{:4} {}\n     predicted: {}\n", c.id, c.says, c.predicts);
  }
  return 0;
}

}  // namespace

command_action claims_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<claims_options>();
  app.add_option("claims", g->ids, "numbers such as 3, 7c; none: all")->type_name("CLAIM");
  auto* const quick = app.add_flag("--quick", g->quick, "three runs a side (the default)");
  app.add_flag("--full", g->full, "five runs a side, twenty of each fault; some five hours")
      ->excludes(quick);
  app.add_flag("--list", g->list, "only say what is claimed and predicted");
  declare_page_format(app, g->format);
  declare(app, "--out", g->out, "DIR", "claims.md, claims.json and the run folders appear in here");
  app.add_flag("--quiet", g->quiet, "no progress");
  app.footer(
      "Exit status: 0 the experiments were made, whatever came out; 2 wrong usage, or some could\n"
      "not be made; 3 interrupted.\n"
      "Examples:\n"
      "  lockmark claims --list\n"
      "  lockmark claims 3a 7d");
  return [c, g] {
    interrupts();
    return g->list ? print_list(*g) : put_to_the_test(c, *g);
  };
}

}  // namespace lockmark::cli
