// The parts of a run whose coordinator was lost, as the run that it would have written: the same
// links, checks and figures, fed from files.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/driver.hpp"
#include "harness/run/result.hpp"
#include "harness/workload.hpp"

namespace lockmark::agents {

class parts {
 public:
  // Throws usage_error for folders without a part, for parts of several runs, and for one twice.
  parts(const real_clock& clock, const std::vector<std::filesystem::path>& folders);
  ~parts();
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;

  const config::job& job() const;
  const std::string& run_id() const;

  // `on_interval` as in run::setup. The window ends with the last interval that all agents have.
  // REQUIRES: called once. Throws usage_error if no window had begun.
  run::result merge(
      const lock_kind& lock, const workload_kind& workload, const std::string& scenario,
      const std::function<void(const run::result&)>& on_window,
      const std::function<void(const run::interval&, std::int64_t at_ns)>& on_interval);

 private:
  struct all;
  std::unique_ptr<all> all_;
};

}  // namespace lockmark::agents
