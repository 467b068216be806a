#include "program/participants_fixture.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <sstream>

#include "program/execute.hpp"

namespace lockmark::cli {
namespace {

namespace fs = std::filesystem;

// The fields after the name, which may itself contain blanks and brackets: state, parent, ...
std::istringstream stat_of(const fs::path& process) {
  const std::string all = read_text(process / "stat");
  const auto name_end = all.rfind(')');
  return std::istringstream(name_end == all.npos ? "" : all.substr(name_end + 1));
}

bool is_alive(pid_t pid) {
  std::istringstream fields = stat_of(fmt::format("/proc/{}", pid));
  std::string state;
  fields >> state;
  return !state.empty() && state != "Z" && state != "X";
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != number.npos) continue;
    std::istringstream fields = stat_of(entry.path());
    std::string state;
    pid_t its_parent = 0;
    fields >> state >> its_parent;
    if (its_parent == parent) found.push_back(static_cast<pid_t>(std::stol(number)));
  }
  return found;
}

}  // namespace

run::result run_apart(const apart& what) {
  static const catalogue known;
  config::job job = config::parse_job(what.job, "test.yaml");
  job.lock = what.lock;
  const lock_kind& lock = known.lock(job.lock);
  const workload_kind& workload = known.workload(known.natural_workload(lock));
  const auto options = lock_options(lock, job);
  const std::string run_id = fmt::format("test{}", getpid());
  const real_clock clock;
  const auto behind = lock.make({what.target, names_of(job, run_id), options});
  std::function<std::string(std::uint32_t)> target_of = what.target_of;
  if (!target_of) target_of = [&](std::uint32_t) { return what.target; };
  run::process_worker_pool workers(clock,
                                   {.job = job,
                                    .lock = lock,
                                    .workload = workload,
                                    .options = options,
                                    .holders = lock.holders == nullptr ? 1 : lock.holders(options),
                                    .run_id = run_id,
                                    .target_of = target_of,
                                    .program = what.program});
  run::setup s{.job = job,
               .lock = lock,
               .behind = *behind,
               .workload = workload,
               .run_id = run_id,
               .target = "the test's",
               .topology = "the test's",
               .participants = &workers};
  s.stuck_after = what.stuck_after;
  if (what.each_glance) {
    s.on_progress = [&](const run::progress& p) { what.each_glance(workers, p); };
  }
  return run::run_job(s, clock);
}

std::vector<pid_t> children_named(const std::string& name, pid_t parent) {
  std::vector<pid_t> found = children_of(parent);
  std::erase_if(found, [&](pid_t pid) {
    return read_text(fmt::format("/proc/{}/comm", pid)) != name + "\n";
  });
  return found;
}

pid_t child_called(const std::string& argument, pid_t parent) {
  for (const pid_t child : children_of(parent)) {
    const std::string words = read_text(fmt::format("/proc/{}/cmdline", child));
    if (words.ends_with(std::string(1, '\0') + argument + '\0')) return child;
  }
  return 0;
}

std::vector<pid_t> all_below(pid_t ancestor) {
  std::vector<pid_t> all = children_of(ancestor);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const pid_t child : children_of(all[i])) all.push_back(child);
  }
  return all;
}

std::vector<pid_t> still_there(std::vector<pid_t> all, duration limit) {
  const real_clock clock;
  const time_point deadline = clock.now() + limit;
  while (true) {
    std::erase_if(all, [](pid_t pid) { return !is_alive(pid); });
    if (all.empty() || clock.now() >= deadline) return all;
    poll(nullptr, 0, 5);
  }
}

}  // namespace lockmark::cli
