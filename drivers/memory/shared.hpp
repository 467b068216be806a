// memory/semaphore, memory/read and memory/write: sessions that use a run's queues.
#pragma once

#include <memory>
#include <vector>

#include "drivers/memory/place_queue.hpp"

namespace lockmark::memory {

// More readers than there will ever be; a writer wants that many places.
inline constexpr std::uint32_t all_places = 1U << 30;

class shared_driver final : public driver {
 public:
  // `mine`: the places that each acquire takes.
  shared_driver(std::shared_ptr<std::vector<place_queue>> queues, std::uint32_t mine)
      : queues_(std::move(queues)), mine_(mine) {}

  task<description> prepare(loop& l, time_point deadline) override;
  task<void> wipe(loop& l, time_point deadline) override;
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override;
  task<server_counters> counters(loop& l, time_point deadline) override;
  task<std::uint64_t> commits(loop& l, std::uint32_t key, time_point deadline) override;

 private:
  const std::shared_ptr<std::vector<place_queue>> queues_;
  const std::uint32_t mine_;
};

}  // namespace lockmark::memory
