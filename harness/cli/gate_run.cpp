#include "harness/cli/gate_run.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "deploy/local/process.hpp"
#include "harness/cli/execute.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The rest of the last line that begins so; empty without one.
std::string last_after(const std::string& log, std::string_view beginning) {
  std::istringstream lines(log);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(beginning)) found = line.substr(beginning.size());
  }
  return found;
}

local::launch launch_of(const gate_errand& e, const std::filesystem::path& log) {
  const open_url target = without_password(e.url);
  local::launch what;
  what.argv = {e.side.program, "run",   e.job,           "--on",
               target.url,     "--out", e.runs.string(), "--quiet"};
  for (const std::string& assignment : e.set) {
    what.argv.push_back("--set");
    what.argv.push_back(assignment);
  }
  what.working_directory = std::filesystem::current_path();
  what.log = log;
  if (!target.variable.empty()) what.environment = {target.variable};
  return what;
}

// Its status, as waitpid gives it.
int wait_for(pid_t child, const gate_errand& e) {
  int passed_on = 0;
  while (!local::wait_until_ended(child, 200ms)) {
    if (e.meanwhile) e.meanwhile();
    if (interrupts() <= passed_on) continue;
    passed_on = interrupts();
    kill(child, SIGINT);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

report::recorded_run run_apart(const gate_errand& e) {
  const auto log = e.runs / fmt::format("{}.log", e.side.name);
  std::filesystem::remove(log);
  const int status = wait_for(local::spawn(launch_of(e, log)), e);
  const std::string said = text_of(log);
  const std::string folder = last_after(said, "run folder: ");
  const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (folder.empty() || exit_code < 0 || exit_code == 2) {
    const std::string sentence = last_after(said, "lockmark: ");
    throw run_failure(fmt::format("the {}'s run failed: {}", e.side.name,
                                  sentence.empty() ? local::describe_status(status) : sentence));
  }
  std::filesystem::remove(log);
  return report::read_run(folder);
}

}  // namespace lockmark::cli
