// The folder of one run, written while the run goes on.
//
//   job.yaml         the job as resolved; whole from the start
//   run.json         "running" from the beginning of the window, replaced at the end of the run
//   latency.hlog     one line per second and series; untagged: response of granted attempts
//   timeline.jsonl   one line per second: counts and a few quantiles
//   history.edn      on request: every acquire and release, for Jepsen's checkers
//
// Files that grow are called NAME.part and renamed when complete. So a killed run leaves job.yaml,
// a run.json that says "complete": false, and everything measured up to the last second. So does a
// run with a full disk: a file with a write error is never called complete.
//
// It measures nothing and reads no clock. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "harness/base/files.hpp"
#include "harness/check/edn.hpp"
#include "harness/run/result.hpp"
#include "harness/stats/hlog.hpp"

namespace lockmark::run {

// The folder could not be written to (any more); one sentence. Its contents stay.
struct write_error : std::runtime_error {
  using runtime_error::runtime_error;
};

class run_folder {
 public:
  // Creates the folder and its parents and writes job.yaml. An existing empty folder is accepted.
  // Throws usage_error if the folder is not empty, not a folder or not writable.
  run_folder(std::filesystem::path path, const config::job& job);

  // The window begins. `known`: the identity of the run and its started_wall_ns; the rest is
  // written as unknown. Throws write_error.
  void begin(const result& known);

  // Appends one interval, in order of time, `at_ns` since the beginning of the window. The first
  // ones, at 0, began before the window: they are merged into the next. Throws write_error.
  // REQUIRES: begun.
  void add(const interval& whole, std::int64_t at_ns);

  // From now on every event of the load is added, too, and history.edn is written: some 400 bytes
  // per acquire and release. Throws write_error.
  void keep_history(std::uint32_t clients, bool has_tokens);
  void add(const check::event& e);

  // The run has ended, in whatever way: writes what is known only at the end, and renames every
  // file. Returns the contents of run.json. Throws write_error. Begins first, if that was not done.
  // After a write_error of any call, it only writes run.json, and growing files keep their
  // temporary names.
  nlohmann::ordered_json finish(const result& r);

  const std::filesystem::path& path() const { return path_; }

 private:
  template <class Write>
  void put(const std::string& name, Write write);
  void write_whole(const std::string& name, const std::string& text);
  void write_interval(const interval& whole, std::int64_t at_ns, std::int64_t length_ns);
  void write_histogram(std::string_view tag, std::int64_t at_ns, std::int64_t length_ns,
                       const stats::histogram& values);
  void close_what_grows(const result& r);
  void write_history();

  std::filesystem::path path_;
  std::chrono::nanoseconds wait_;
  part_file latency_file_;
  part_file timeline_file_;
  std::optional<stats::hlog_writer> latency_;
  part_file history_file_;
  std::optional<check::edn_history> history_;
  std::string history_text_;       // not yet written
  std::optional<interval> first_;  // not yet written
  std::int64_t last_at_ns_ = 0;
  bool failed_ = false;
};

}  // namespace lockmark::run
