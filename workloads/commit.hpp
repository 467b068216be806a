// The use of an optimistic lock: read, work, write back only if no other client has. An attempt
// succeeds when its write is committed; after a conflict it starts over, as the job's retry policy
// says, until the wait timeout. It excludes no client, so it is checked for lost updates instead.
#pragma once

#include "harness/workload.hpp"

namespace lockmark::workloads {

workload_kind commit();

}  // namespace lockmark::workloads
