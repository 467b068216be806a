// Merges the events of several threads into one order, as far as all of them have reported.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

class merger {
 public:
  // The journals must outlive this.
  explicit merger(std::vector<journal*> sources)
      : sources_(std::move(sources)), heads_(sources_.size()) {}

  // Passes every event whose place is known by now to `sink(const event&)`, in order.
  template <class Sink>
  void drain(Sink&& sink) {
    std::int64_t until_ns = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      heads_[i].drop_read();
      until_ns = std::min(until_ns, sources_[i]->collect(heads_[i].events));
    }
    drain_until(until_ns, sink);
  }

 private:
  struct head {
    std::vector<event> events;
    std::size_t next = 0;

    bool empty() const { return next == events.size(); }
    const event& front() const { return events[next]; }
    void drop_read() {
      events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(next));
      next = 0;
    }
  };

  template <class Sink>
  void drain_until(std::int64_t until_ns, Sink& sink) {
    while (head* const first = earliest(until_ns)) {
      sink(first->front());
      ++first->next;
      // A single source is already in order: drain it directly.
      if (heads_.size() > 1) continue;
      while (!first->empty() && first->front().at_ns < until_ns) sink(first->events[first->next++]);
    }
  }

  head* earliest(std::int64_t until_ns) {
    head* found = nullptr;
    for (head& h : heads_) {
      if (h.empty() || h.front().at_ns >= until_ns) continue;
      if (found == nullptr || before(h.front(), found->front())) found = &h;
    }
    return found;
  }

  std::vector<journal*> sources_;
  std::vector<head> heads_;
};

}  // namespace lockmark::check
