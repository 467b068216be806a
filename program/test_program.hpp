// Common to the tests of the command line: the program under test as a child process, and a scratch
// directory. It knows no server.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/time/clock.hpp"

namespace lockmark::cli {

// A directory that is removed with the object.
class scratch {
 public:
  scratch();
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A finished process's output and status: its exit status, or 128 + the signal.
struct ended {
  int status = -1;
  std::string out;
  std::string err;
};

// A child process with its output in files, so that it never blocks on a reader. It runs in its own
// process group and is killed with the object.
class program {
 public:
  // argv[0] is a path. The files are created in `where`, which is also its $XDG_RUNTIME_DIR, so
  // that it does not find the user's servers. Throws std::runtime_error if it cannot be started.
  program(const std::vector<std::string>& argv, const std::filesystem::path& where);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  std::string out() const;  // so far
  std::string err() const;
  void signal(int number) const;
  pid_t pid() const { return pid_; }
  // True as soon as it has printed `text` to stderr `times` times; false if it ended or 60 s passed
  // before. Progress is a line a second.
  bool says(std::string_view text, int times = 1) const;
  // Waits until it ends. If it exceeds the limit, the test fails and it is killed.
  ended wait(duration limit);

 private:
  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = -1;
};

// lockmark itself, as built beside this test.
std::vector<std::string> lockmark(std::vector<std::string> arguments);

// Runs lockmark to its end in `where`.
ended run(const std::filesystem::path& where, std::vector<std::string> arguments,
          duration limit = std::chrono::seconds{60});

// Runs another program of the system, found in PATH; returns its output. A failure unless it exits
// 0.
std::string output_of(std::vector<std::string> argv, const std::filesystem::path& where);

// The only folder in a directory of runs; empty, and a failure, unless there is exactly one.
std::filesystem::path only_folder(const std::filesystem::path& runs);

nlohmann::json read_json(const std::filesystem::path& file);
// The marks of a run.json without stalls of lockmark or the machine, which a busy machine may have.
nlohmann::json marks_but_stalls(const nlohmann::json& run);
std::string read_text(const std::filesystem::path& file);

// The files below a directory that contain the text.
std::vector<std::string> files_with(const std::filesystem::path& below, std::string_view text);

}  // namespace lockmark::cli
