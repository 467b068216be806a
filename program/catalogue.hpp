// The visible tables: which locks and workloads this program knows.
#pragma once

#include <string_view>
#include <vector>

#include "harness/config/job.hpp"
#include "harness/workload.hpp"

namespace lockmark::cli {

class catalogue {
 public:
  catalogue();

  const std::vector<lock_kind>& locks() const { return locks_; }
  const std::vector<workload_kind>& workloads() const { return workloads_; }

  // Throws usage_error that lists the known names.
  const lock_kind& lock(std::string_view name) const;
  const workload_kind& workload(std::string_view name) const;

  // What the job's `workload: auto` means for a lock.
  std::string_view natural_workload(const lock_kind& lock) const;

  // The lock that a job without one runs on servers of this form: the usual one that can do what
  // the job asks for.
  std::string_view usual_lock(std::string_view form, const config::job& job) const;

 private:
  std::vector<lock_kind> locks_;
  std::vector<workload_kind> workloads_;
};

// "redis" of "redis/lua".
std::string_view backend_of(std::string_view lock);

// Whether the lock declares servers of this form ("redis-cluster") among those it runs on.
bool runs_on(const lock_kind& lock, std::string_view form);

// Every option of the lock with its value: what the job gives, or the preset. Throws usage_error
// for an option that the lock does not have or does not take so.
std::map<std::string, std::string, std::less<>> lock_options(const lock_kind& lock,
                                                             const config::job& job);

}  // namespace lockmark::cli
