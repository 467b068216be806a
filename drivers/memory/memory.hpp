// Locks inside this process: the reference driver, and the floor under every measurement.
//
// They are correct and as fast as a driver can be, so what the harness shows for them is the
// harness's own cost. They protect nothing between processes and touch no network.
//
// To write a new backend, copy this folder and keep its shape:
//   memory.{hpp,cpp}  the table of the backend's locks, and nothing else
//   lock.{hpp,cpp}    one lock: its session reads as the algorithm, its driver as the life cycle
//   key_lock.*        what stands in for the server here; yours is a connection instead
//   (shared.* and place_queue.* are the same for locks that several may hold)
// then follow drivers/README.md.
#pragma once

#include <vector>

#include "harness/driver.hpp"

namespace lockmark::memory {

// memory/lock        fair and reentrant, with lease, token and wake-up
// memory/try_lock    neither waits nor nests: for retry policies, without a server
// memory/optimistic  a version per key: read, then commit if nobody else has
std::vector<lock_kind> kinds();

// memory/semaphore   fair, with lease, token and wake-up; any owner may take several places
// memory/read        readers, as many as come
// memory/write       writers, that exclude each other and the readers of the same run
std::vector<lock_kind> shared_kinds();

}  // namespace lockmark::memory
