// The visible tables: the locks and workloads of this program.
#pragma once

#include <deque>
#include <map>
#include <string>
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

  // Also faulty/NAME: the lock NAME with faults on purpose. Throws usage_error that lists the known
  // names.
  const lock_kind& lock(std::string_view name) const;
  // The job's lock, beside its readers' if the job has readers. Throws usage_error, too, if it has
  // none.
  const lock_kind& lock_for(const config::job& job) const;
  const workload_kind& workload(std::string_view name) const;

  // The meaning of the job's `workload: auto` for a lock.
  std::string_view natural_workload(const lock_kind& lock) const;

  // The default lock on servers of this form for a job that names none: the usual one that has the
  // features the job needs.
  std::string_view usual_lock(std::string_view form, const config::job& job) const;

 private:
  void add_versions();

  std::vector<lock_kind> locks_;
  std::deque<std::string> faulty_names_;
  std::vector<lock_kind> faulty_;
  std::map<std::string_view, lock_kind> with_readers_;  // by the writers' name
  std::vector<workload_kind> workloads_;
};

// "redis" of "redis/lua".
std::string_view backend_of(std::string_view lock);

// Whether servers of this form ("redis-cluster") are among those the lock declares.
bool runs_on(const lock_kind& lock, std::string_view form);

// Every option of the lock with its value: the job's, or the preset. Throws usage_error for an
// unknown option or an invalid value.
std::map<std::string, std::string, std::less<>> lock_options(const lock_kind& lock,
                                                             const config::job& job);

}  // namespace lockmark::cli
