// memory/optimistic: no lock, but a version per key that moves when a client commits.
#pragma once

#include <atomic>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::memory {

// A key's version is the number of its commits.
struct alignas(64) versioned_key {
  std::atomic<std::uint64_t> version{0};
  std::atomic<std::uint64_t> calls{0};
};

class optimistic_driver final : public driver {
 public:
  explicit optimistic_driver(std::size_t keys) : keys_(keys) {}

  task<description> prepare(loop& l, time_point deadline) override;
  task<void> wipe(loop& l, time_point deadline) override;
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override;
  task<server_counters> counters(loop& l, time_point deadline) override;
  task<std::uint64_t> commits(loop& l, std::uint32_t key, time_point deadline) override;

 private:
  std::vector<versioned_key> keys_;
};

}  // namespace lockmark::memory
