#include "harness/check/event_ring.hpp"

namespace lockmark::check {

void journal::pass_on(const event& e) {
  outlet_->push(e);
}

void journal::promise(std::int64_t complete_until_ns) {
  outlet_->promise(complete_until_ns);
}

bool event_writer::find_room() {
  if (lost_) return false;
  limit_ = shared_.read.load(std::memory_order_acquire) + room_.size();
  if (next_ != limit_) return true;
  lost_ = true;
  shared_.overflowed.store(true, std::memory_order_release);
  return false;
}

// The promise first: everything it covers was written before it was given.
std::int64_t event_reader::read(std::vector<event>& to) {
  const std::int64_t until_ns = shared_.complete_until_ns.load(std::memory_order_acquire);
  const std::uint64_t written = shared_.written.load(std::memory_order_acquire);
  for (; next_ != written; ++next_) to.push_back(room_[next_ & (room_.size() - 1)]);
  shared_.read.store(next_, std::memory_order_release);
  return until_ns;
}

}  // namespace lockmark::check
