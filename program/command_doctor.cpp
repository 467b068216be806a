// What a run would say of a target before its load, without the load.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "harness/async/scope.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/execute.hpp"
#include "program/jobs.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;

// As a run gives its first contact.
constexpr duration contact_within = 4s;

struct doctor_options {
  std::string target;
  std::string job = "contended";
  std::vector<std::string> set;
};

struct report_of_health {
  description server;
  std::vector<finding> found;
};

demand demand_of(const config::job& job) {
  return {.instances = static_cast<std::uint32_t>(job.instances),
          .clients = static_cast<std::uint32_t>(job.clients),
          .lease = job.lease,
          .session_timeout = job.session_timeout};
}

// What was made for the look is removed, also where the look fails.
task<void> look(loop& l, driver& at, const config::job& job, report_of_health& to) {
  const demand load = demand_of(job);
  std::exception_ptr failure;
  bool may_have_created = false;
  try {
    to.server = co_await at.prepare(l, l.now() + contact_within);
    may_have_created = true;
    to.found = co_await at.preflight(l, load, l.now() + contact_within);
  } catch (const unanswered_change&) {
    may_have_created = true;
    failure = std::current_exception();
  } catch (...) {
    failure = std::current_exception();
  }
  if (may_have_created) {
    try {
      co_await at.wipe(l, l.now() + contact_within);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

int print(const report_of_health& health, std::string_view lock, const std::string& target) {
  fmt::print("{} on {}\n", lock, target);
  for (const auto& [name, value] : health.server) fmt::print("  {:<32} {}\n", name, value);
  const bool fatal = std::ranges::any_of(health.found, &finding::fatal);
  for (const finding& f : health.found) {
    fmt::print("{}: {}\n", f.fatal ? "stops a run" : "may spoil a run", f.sentence);
  }
  if (health.found.empty()) fmt::print("nothing was found that would spoil a run\n");
  return fatal ? 1 : 0;
}

int examine(const context& c, const doctor_options& g) {
  named_job job = find_job(g.job, g.set);
  resolved_target where = resolve_target(g.target);
  const lock_kind& lock = lock_for(c.known, where, job.job);
  const auto at = lock.make({where.url, names_of(job.job, fmt::format("doctor{}", getpid())),
                             lock_options(lock, job.job)});
  const real_clock clock;
  loop l{clock};
  report_of_health health;
  run_to_end(l, look(l, *at, job.job, health));
  return print(health, lock.name, where.redacted);
}

}  // namespace

command_action doctor_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<doctor_options>();
  app.add_option("target", g->target, "a URL, local:NAME or memory:")
      ->type_name("TARGET")
      ->required();
  declare(app, "--job", g->job, "JOB", "for the load of this job, and for its lock if it has one");
  declare_set(app, g->set, "overrides the job, such as lock=redis/redlock or load.clients=500");
  app.footer(
      "Exit status: 0 a run can be made; 1 something stops it; 2 wrong usage or no server.\n"
      "Example:\n"
      "  lockmark doctor redis://10.0.0.1:6379 --set lock=redis/redisson");
  return [c, g] { return examine(c, *g); };
}

}  // namespace lockmark::cli
