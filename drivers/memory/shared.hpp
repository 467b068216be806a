// memory/semaphore, memory/read and memory/write: sessions that use a run's rooms.
#pragma once

#include <memory>
#include <vector>

#include "drivers/memory/room.hpp"

namespace lockmark::memory {

// More readers than there will ever be; a writer wants that many places.
inline constexpr std::uint32_t all_places = 1U << 30;

class shared_driver final : public driver {
 public:
  // `mine`: the places of a room that each acquire takes.
  shared_driver(std::shared_ptr<std::vector<room>> rooms, std::uint32_t mine)
      : rooms_(std::move(rooms)), mine_(mine) {}

  task<description> prepare(loop& l, time_point deadline) override;
  task<void> wipe(loop& l, time_point deadline) override;
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override;
  task<server_counters> counters(loop& l, time_point deadline) override;
  task<std::uint64_t> commits(loop& l, std::uint32_t key, time_point deadline) override;

 private:
  const std::shared_ptr<std::vector<room>> rooms_;
  const std::uint32_t mine_;
};

}  // namespace lockmark::memory
