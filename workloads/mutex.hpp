// The plain use of a lock: acquire, work, release. Reentrant locks are acquired todo().depth times.
// Polling locks are retried as the job's retry policy says, until the wait timeout.
#pragma once

#include "harness/workload.hpp"

namespace lockmark::workloads {

workload_kind mutex();

}  // namespace lockmark::workloads
