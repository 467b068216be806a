#include "harness/async/timer_queue.hpp"

#include <cassert>

namespace lockmark {

void timer_queue::put(std::size_t place, timer* t) {
  heap_[place] = t;
  t->place_ = place;
}

void timer_queue::sift_up(std::size_t place) {
  timer* const t = heap_[place];
  while (place > 0) {
    const std::size_t parent = (place - 1) / 2;
    if (heap_[parent]->when_ <= t->when_) break;
    put(place, heap_[parent]);
    place = parent;
  }
  put(place, t);
}

void timer_queue::sift_down(std::size_t place) {
  timer* const t = heap_[place];
  while (true) {
    std::size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1]->when_ < heap_[child]->when_) ++child;
    if (t->when_ <= heap_[child]->when_) break;
    put(place, heap_[child]);
    place = child;
  }
  put(place, t);
}

void timer_queue::add(timer& t, time_point when) {
  assert(!t.armed());
  t.when_ = when;
  heap_.push_back(&t);
  sift_up(heap_.size() - 1);
}

void timer_queue::remove(timer& t) {
  if (!t.armed()) return;
  const std::size_t place = t.place_;
  timer* const last = heap_.back();
  heap_.pop_back();
  t.place_ = timer::idle;
  if (last == &t) return;
  put(place, last);
  sift_up(place);
  sift_down(last->place_);
}

std::optional<time_point> timer_queue::earliest() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front()->when_;
}

void timer_queue::fire_due(time_point now) {
  while (!heap_.empty() && heap_.front()->when_ <= now) {
    timer& due = *heap_.front();
    remove(due);
    due.fire();
  }
}

}  // namespace lockmark
