// Byte records from one process to another, in memory that both map.
//
// One writer, one reader, no lock. A record exists once the index behind it has moved: whole, or
// not at all, even if the writer is killed. A writer never waits; a record that does not fit is
// lost, and so is everything after it. It owns no memory, and knows nothing about the records.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockmark::run {

struct channel_state {
  alignas(64) std::atomic<std::uint64_t> written{0};
  std::atomic<bool> overflowed{false};
  alignas(64) std::atomic<std::uint64_t> read{0};
};

class record_writer {
 public:
  // REQUIRES: the channel is new.
  record_writer(channel_state& shared, std::span<char> room) : shared_(shared), room_(room) {}

  void put(std::string_view record);

 private:
  void copy_in(const char* bytes, std::size_t size);

  channel_state& shared_;
  const std::span<char> room_;
  std::uint64_t next_ = 0;
  bool lost_ = false;
};

class record_reader {
 public:
  record_reader(channel_state& shared, std::span<const char> room) : shared_(shared), room_(room) {}

  // The next record, if there is one already.
  std::optional<std::string> next();

  // Records are missing after those read so far.
  bool overflowed() const { return shared_.overflowed.load(std::memory_order_acquire); }

 private:
  void copy_out(char* bytes, std::size_t size);

  channel_state& shared_;
  const std::span<const char> room_;
  std::uint64_t next_ = 0;
};

}  // namespace lockmark::run
