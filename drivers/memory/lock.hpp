// memory/lock and memory/try_lock: sessions that use the shared key_locks.
#pragma once

#include <vector>

#include "drivers/memory/key_lock.hpp"

namespace lockmark::memory {

// In what the locks of this file differ.
struct manner {
  bool waits;
  bool reentrant;
};

class lock_driver final : public driver {
 public:
  lock_driver(std::size_t keys, manner m) : keys_(keys), manner_(m) {}

  task<description> prepare(loop& l, time_point deadline) override;
  task<void> wipe(loop& l, time_point deadline) override;
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override;
  task<server_counters> counters(loop& l, time_point deadline) override;
  task<std::uint64_t> commits(loop& l, std::uint32_t key, time_point deadline) override;

 private:
  std::vector<key_lock> keys_;
  const manner manner_;
};

}  // namespace lockmark::memory
