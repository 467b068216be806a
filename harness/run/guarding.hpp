// The guarded resource of a job: whether it may have one, and the resource for jobs whose instances
// live in this process.
#pragma once

#include <optional>
#include <vector>

#include "harness/check/guard.hpp"
#include "harness/config/job.hpp"
#include "harness/driver.hpp"

namespace lockmark::run {

// Refuses, with a usage_error, a guard for a lock with several concurrent holders, or none.
void check_guard(const config::job& job, const lock_kind& lock, std::uint32_t holders);

class own_guard {
 public:
  // Throws as check_guard does.
  own_guard(const config::job& job, const lock_kind& lock, std::uint32_t holders);
  own_guard(const own_guard&) = delete;
  own_guard& operator=(const own_guard&) = delete;

  // Null: the job has no guard.
  check::guard* get() { return guard_ ? &*guard_ : nullptr; }

 private:
  std::vector<check::guarded_register> registers_;
  std::optional<check::guard> guard_;
};

}  // namespace lockmark::run
