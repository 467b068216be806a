#include "harness/check/hold_log.hpp"

#include <algorithm>

namespace lockmark::check {
namespace {

// Of all keys, so that of a few keys enough remain of each.
constexpr std::size_t most_recent = 512;

void add(holds_of_key& to, const violation& v) {
  if (v.key != to.key || to.overlaps.size() == hold_log::most) return;
  to.overlaps.emplace_back(v.second.granted_ns, v.second.granted_ns + v.overlap_ns);
}

}  // namespace

void hold_log::begin(std::int64_t at_ns) {
  has_begun_ = true;
  begin_ns_ = at_ns;
}

// The last ones that ended, in that order.
void hold_log::copy_recent(holds_of_key& to, std::int64_t from_ns, std::size_t at_most) const {
  for (std::size_t i = 0; i < recent_.size(); ++i) {
    const of_key& one = recent_[(oldest_ + i) % recent_.size()];
    if (one.key == to.key && one.held.granted_ns >= from_ns) to.holds.push_back(one.held);
  }
  if (to.holds.size() <= at_most) return;
  to.holds.erase(to.holds.begin(), to.holds.end() - static_cast<std::ptrdiff_t>(at_most));
}

// The hold before the first hand-off may have ended already.
void hold_log::handed_over(std::uint32_t key) {
  if (!has_begun_ || has_first_) return;
  has_first_ = true;
  first_.key = key;
  copy_recent(first_, begin_ns_, most);
}

void hold_log::ended(std::uint32_t key, const hold& h) {
  if (has_first_ && key == first_.key && h.granted_ns >= begin_ns_ && first_.holds.size() < most) {
    first_.holds.push_back(h);
  }
  if (has_violation_) {
    if (key == at_violation_.key && at_violation_.holds.size() < most) {
      at_violation_.holds.push_back(h);
    }
  } else if (recent_.size() < most_recent) {
    recent_.push_back({key, h});
  } else {
    recent_[oldest_] = {key, h};
    oldest_ = (oldest_ + 1) % most_recent;
  }
}

void hold_log::violated(const violation& v) {
  if (has_first_) add(first_, v);
  if (!has_violation_) {
    has_violation_ = true;
    violation_ = v;
    at_violation_.key = v.key;
    copy_recent(at_violation_, v.first.granted_ns - 1'000'000'000, most / 2);
  }
  add(at_violation_, v);
}

bool hold_log::shows(const hold& h) const {
  return std::ranges::any_of(first_.holds, [&](const hold& one) {
    return one.client == h.client && one.granted_ns == h.granted_ns;
  });
}

holds_of_key hold_log::at_violation() const {
  if (!has_violation_) return {};
  const bool is_shown =
      violation_.key == first_.key && shows(violation_.first) && shows(violation_.second);
  return is_shown ? holds_of_key{} : at_violation_;
}

}  // namespace lockmark::check
