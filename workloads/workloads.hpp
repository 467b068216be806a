// What clients do with a lock.
#pragma once

#include "harness/workload.hpp"

namespace lockmark::workloads {

// The plain use of a lock: acquire, work, release. Reentrant locks are acquired todo().depth times.
// Polling locks are retried as the job's retry policy says, until the wait timeout.
workload_kind mutex();

// The use of an optimistic lock: read, work, write back only if no other client has. An attempt
// succeeds when its write is committed; after a conflict it starts over, as the job's retry policy
// says, until the wait timeout. It excludes no client, so it is checked for lost updates instead.
workload_kind commit();

}  // namespace lockmark::workloads
