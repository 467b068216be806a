// Processes: the POSIX calls for keeper and owner, and no policy.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/process.hpp"
#include "harness/time/clock.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::local {

struct launch {
  std::vector<std::string> argv;  // argv[0] is an absolute path
  std::filesystem::path working_directory;
  std::filesystem::path log;                  // standard output and error are appended here
  std::vector<std::string> environment = {};  // "NAME=value", besides the caller's
};

// Starts a program as the leader of its own process group, with empty standard input, a raised soft
// limit of open files, and SIGKILL when the calling process dies. A program that cannot be executed
// ends with status 127 and an error in its log. The caller must be single-threaded: the kernel ties
// that SIGKILL to the calling thread. Throws start_error if no process can be made.
pid_t spawn(const launch& what);

// The absolute path of a program, looked up in PATH and then in the folders of the system's
// daemons and of Debian's versions of PostgreSQL, which an ordinary user's PATH lacks. Throws
// start_error that names the Debian package.
std::string find_program(std::string_view name, std::string_view debian_package);

// The path of a required file, such as a jar. Throws start_error that names the package.
std::string need_file(std::string_view path, std::string_view debian_package);

// The last `lines` lines of a file; empty if there is no file.
std::string tail(const std::filesystem::path& file, int lines = 20);

using lockmark::describe_status;

// A handle of a process, not necessarily a child, that never refers to a later process with the
// same id; none if there is no such process.
unique_fd hold_process(pid_t pid);
void send_signal(const unique_fd& process, int signal);

// As /proc tells it: R, S, T and so on; Z also if there is no such process.
char state_of(pid_t pid);

// Whether a place is this directory or anything in it.
bool is_below(const std::filesystem::path& place, const std::filesystem::path& directory);

// The processes that work in this directory or below it. One that is already dying does not.
std::vector<pid_t> processes_in(const std::filesystem::path& directory);

// Waits until a process, not necessarily a child, has ended; false if time_limit passed first. Does
// not reap.
bool wait_until_ended(pid_t pid, duration time_limit);

// The remaining time in whole milliseconds, rounded up, for poll().
int left_ms(time_point deadline);

}  // namespace lockmark::local
