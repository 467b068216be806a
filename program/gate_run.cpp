#include "program/gate_run.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "deploy/local/process.hpp"
#include "harness/base/files.hpp"
#include "harness/config/redaction.hpp"
#include "program/execute.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;

// The rest of the last line with this prefix; empty if there is none.
std::string last_after(const std::string& log, std::string_view beginning) {
  std::istringstream lines(log);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(beginning)) found = line.substr(beginning.size());
  }
  return found;
}

// Assignments that contain a user's command or another secret go into a job file: arguments can be
// read by every user of the machine. The folder is removed with the object.
class private_job {
 public:
  explicit private_job(const gate_run_request& e) : job_(e.job), set_(e.set) {
    const auto is_open = [](const auto& text) { return config::redacted_argument(text) == text; };
    if (std::ranges::all_of(e.set, is_open)) return;
    const named_job whole = find_job(e.job, e.set);
    folder_ = e.runs / fmt::format(".{}-job", e.side.name);
    std::filesystem::remove_all(folder_);
    create_private_folders(folder_);
    const auto stem = whole.name.substr(whole.name.rfind('/') + 1);
    job_ = (folder_ / fmt::format("{}.yaml", stem)).string();
    set_.clear();
    write_whole_file(job_, config::print_job(whole.job));
  }
  private_job(const private_job&) = delete;
  private_job& operator=(const private_job&) = delete;
  ~private_job() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  const std::string& job() const { return job_; }
  const std::vector<std::string>& set() const { return set_; }

 private:
  std::string job_;
  std::vector<std::string> set_;
  std::filesystem::path folder_;
};

local::launch launch_of(const gate_run_request& e, const private_job& job,
                        const std::filesystem::path& log) {
  const open_url target = without_password(e.url, e.side.program == this_lockmark);
  local::launch what;
  what.argv = {e.side.program, "run", job.job(), "--out", e.runs.string(), "--quiet"};
  if (!target.url.empty()) {
    what.argv.push_back("--on");
    what.argv.push_back(target.url);
  }
  for (const std::string& assignment : job.set()) {
    what.argv.push_back("--set");
    what.argv.push_back(assignment);
  }
  what.argv.insert(what.argv.end(), e.arguments.begin(), e.arguments.end());
  what.working_directory = std::filesystem::current_path();
  what.log = log;
  if (!target.variable.empty()) what.environment = {target.variable};
  return what;
}

// Its status, as waitpid gives it.
int wait_for(pid_t child, const gate_run_request& e) {
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

report::recorded_run run_apart(const gate_run_request& e) {
  const auto log = e.runs / fmt::format("{}.log", e.side.name);
  std::filesystem::remove(log);
  const private_job job(e);
  const int status = wait_for(local::spawn(launch_of(e, job, log)), e);
  const std::string said = readable_text(log);
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
