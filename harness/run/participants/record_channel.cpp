#include "harness/run/participants/record_channel.hpp"

#include <algorithm>
#include <cstring>

namespace lockmark::run {
namespace {

using length = std::uint32_t;

}  // namespace

void record_writer::copy_in(const char* bytes, std::size_t size) {
  const std::size_t at = next_ % room_.size();
  const std::size_t first = std::min(size, room_.size() - at);
  std::memcpy(room_.data() + at, bytes, first);
  std::memcpy(room_.data(), bytes + first, size - first);
  next_ += size;
}

void record_writer::put(std::string_view record) {
  const std::uint64_t taken = next_ - shared_.read.load(std::memory_order_acquire);
  if (lost_ || sizeof(length) + record.size() > room_.size() - taken) {
    lost_ = true;
    shared_.overflowed.store(true, std::memory_order_release);
    return;
  }
  const auto size = static_cast<length>(record.size());
  copy_in(reinterpret_cast<const char*>(&size), sizeof size);
  copy_in(record.data(), record.size());
  shared_.written.store(next_, std::memory_order_release);
}

void record_reader::copy_out(char* bytes, std::size_t size) {
  const std::size_t at = next_ % room_.size();
  const std::size_t first = std::min(size, room_.size() - at);
  std::memcpy(bytes, room_.data() + at, first);
  std::memcpy(bytes + first, room_.data(), size - first);
  next_ += size;
}

std::optional<std::string> record_reader::next() {
  if (next_ == shared_.written.load(std::memory_order_acquire)) return std::nullopt;
  length size = 0;
  copy_out(reinterpret_cast<char*>(&size), sizeof size);
  std::string record(size, '\0');
  copy_out(record.data(), size);
  shared_.read.store(next_, std::memory_order_release);
  return record;
}

}  // namespace lockmark::run
