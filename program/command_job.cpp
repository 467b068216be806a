// lockmark job: what jobs there are, and what one of them does. Runs nothing.
#include <fmt/format.h>

#include <memory>

#include "harness/base/errors.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/explain.hpp"
#include "program/short_options.hpp"
#include "program/terminal.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::cli {
namespace {

struct job_options {
  std::string what;
  std::string job;
  short_options given;
  std::vector<std::string> set;
};

std::string list_of_jobs() {
  std::string text;
  for (const auto& [name, yaml] : workloads::shipped_jobs()) {
    text += fmt::format("{:<34} {}\n", name, idea_of(std::string(yaml)));
  }
  return text;
}

int tell(const job_options& g) {
  if (g.what == "list") {
    print_result(list_of_jobs());
    return 0;
  }
  if (g.job.empty()) throw usage_error("job {}: which job? See lockmark job list", g.what);
  const job_text found = find_job_text(g.job);
  if (g.what == "show" && g.set.empty() && g.given == short_options{}) {
    print_result(found.yaml);
    return 0;
  }
  const named_job job = find_job(g.job, g.given, g.set);
  print_result(g.what == "show" ? config::print_job(job.job) : explained(job, idea_of(found.yaml)));
  return 0;
}

}  // namespace

command_action job_command(CLI::App& app, const context&) {
  const auto g = std::make_shared<job_options>();
  app.add_option("what", g->what,
                 "list the jobs; show one, as a file to begin with; explain what one does and how "
                 "long it takes")
      ->check(CLI::IsMember({"list", "show", "explain"}))
      ->required();
  app.add_option("job", g->job, "a job file, or the name of a shipped job")->type_name("JOB");
  declare_short(app, g->given);
  declare_set(app, g->set, "overrides the job; show then prints every key");
  app.footer(
      "Exit status: 0; 2 there is no such job, or it is wrong.\n"
      "Examples:\n"
      "  lockmark job show contended >my.yaml\n"
      "  lockmark job explain faults/holder_paused --hold 3s");
  return [g] { return tell(*g); };
}

}  // namespace lockmark::cli
