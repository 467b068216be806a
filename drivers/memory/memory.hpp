// Locks inside this process: the reference driver, and the floor under every measurement.
//
// They are correct and as fast as a driver can be, so the harness's figures for them are its own
// cost. They protect nothing between processes and touch no network.
//
// To write a new backend, copy this folder and keep its shape:
//   memory.{hpp,cpp}  the table of the backend's locks, and nothing else
//   lock.{hpp,cpp}    the locks: a session reads as the algorithm, its driver as the life cycle
//   key_lock.*        takes the server's place here; yours is a connection instead
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
// memory/read        readers, any number
// memory/write       writers, which exclude each other and the readers of the same run
std::vector<lock_kind> shared_kinds();

}  // namespace lockmark::memory
