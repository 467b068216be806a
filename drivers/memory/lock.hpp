// The drivers behind memory.cpp's table.
#pragma once

#include <memory>

#include "drivers/memory/key_lock.hpp"

namespace lockmark::memory {

// The differences between locks on keys.
struct manner {
  std::uint32_t places = 1;  // taken by each acquire
  bool waits = true;
  bool reentrant = false;
};

std::unique_ptr<driver> lock_on(key_locks keys, manner m);

// memory/optimistic: no lock, but a version per key that moves when a client commits.
std::unique_ptr<driver> optimistic_on(std::size_t keys);

}  // namespace lockmark::memory
