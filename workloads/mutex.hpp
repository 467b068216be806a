// The plain use of a lock: take it, work, give it back. Reentrant locks are taken todo().depth
// times. Polling locks are tried again as the job's retry policy says, until the wait timeout.
#pragma once

#include "harness/workload.hpp"

namespace lockmark::workloads {

workload_kind mutex();

}  // namespace lockmark::workloads
