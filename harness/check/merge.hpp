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

  // Of two sources at the same place, the first one.
  static bool comes_later(const head* a, const head* b) {
    if (before(b->front(), a->front())) return true;
    return !before(a->front(), b->front()) && b < a;
  }

  // A heap of the sources: with hundreds of them, looking at each for every event would be most of
  // the work.
  template <class Sink>
  void drain_until(std::int64_t until_ns, Sink& sink) {
    const auto has_more = [&](const head& h) { return !h.empty() && h.front().at_ns < until_ns; };
    heap_.clear();
    for (head& h : heads_) {
      if (has_more(h)) heap_.push_back(&h);
    }
    std::make_heap(heap_.begin(), heap_.end(), comes_later);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), comes_later);
      head* const first = heap_.back();
      heap_.pop_back();
      do {
        sink(first->events[first->next++]);
      } while (has_more(*first) && (heap_.empty() || !comes_later(first, heap_.front())));
      if (!has_more(*first)) continue;
      heap_.push_back(first);
      std::push_heap(heap_.begin(), heap_.end(), comes_later);
    }
  }

  std::vector<journal*> sources_;
  std::vector<head> heads_;
  std::vector<head*> heap_;
};

}  // namespace lockmark::check
