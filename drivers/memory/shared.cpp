#include "drivers/memory/shared.hpp"

namespace lockmark::memory {
namespace {

class shared_session final : public session {
 public:
  shared_session(loop& l, std::vector<place_queue>& queues, std::uint32_t mine)
      : loop_(l), queues_(queues), mine_(mine) {}
  ~shared_session() override { give_all_back(); }

  task<outcome<grant>> acquire(request r) override {
    count_call();
    const auto got = queues_[r.key].try_take(owner_of(r), mine_, r.lease, loop_.now());
    if (got) co_return *got;
    co_return co_await wait_in_line(r);
  }

  task<outcome<grant>> renew(request r) override {
    count_call();
    const auto [held, to_ring] = queues_[r.key].extend(owner_of(r), r.lease, loop_.now());
    ring(to_ring);
    if (!held) co_return refusal::not_owner;
    co_return *held;
  }

  task<outcome<nothing>> release(request r) override {
    count_call();
    const auto [held, to_ring] = queues_[r.key].give_back(owner_of(r), loop_.now());
    ring(to_ring);
    if (!held) co_return refusal::not_owner;
    co_return nothing{};
  }

  bool alive() const override { return alive_; }

  task<void> close() override {
    give_all_back();
    alive_ = false;
    co_return;
  }

  traffic sent() const override { return sent_; }

 private:
  owner owner_of(const request& r) const { return {this, r.client}; }

  // One call of this driver stands for one command and its answer.
  void count_call() {
    ++sent_.commands;
    ++sent_.round_trips;
  }

  void ring(const place_queue::rings& all) {
    for (place_waiter* const v : all) v->ring(loop_);
  }

  task<outcome<grant>> wait_in_line(request r) {
    place_queue& here = queues_[r.key];
    place_waiter me{loop_, owner_of(r), r, mine_};
    ring(here.join(me, loop_.now()));
    while (true) {
      const bool rung = co_await me.bell.wait_until(me.looks_again);
      const auto [over, to_ring] = here.look_again(me, rung, loop_.now());
      ring(to_ring);
      if (over) break;
    }
    if (me.ringing) co_await me.bell.wait();  // the ring may come after the deadline
    if (!me.granted) co_return refusal::deadline;
    ++sent_.wakeups;
    co_return *me.granted;
  }

  void give_all_back() {
    for (place_queue& r : queues_) ring(r.give_back_for(this, loop_.now()));
  }

  loop& loop_;
  std::vector<place_queue>& queues_;
  const std::uint32_t mine_;
  traffic sent_;
  bool alive_ = true;
};

}  // namespace

task<description> shared_driver::prepare(loop&, time_point) {
  co_return description{{"server", "this process"}};
}

task<void> shared_driver::wipe(loop&, time_point) {
  for (place_queue& r : *queues_) r.reset();
  co_return;
}

task<std::unique_ptr<session>> shared_driver::open(loop& l, instance, time_point) {
  co_return std::make_unique<shared_session>(l, *queues_, mine_);
}

task<server_counters> shared_driver::counters(loop&, time_point) {
  std::uint64_t calls = 0;
  for (place_queue& r : *queues_) calls += r.calls();
  co_return server_counters{{"commands", calls}};
}

task<std::uint64_t> shared_driver::commits(loop&, std::uint32_t, time_point) {
  throw std::logic_error("a lock that is held has no commits");
  co_return 0;
}

}  // namespace lockmark::memory
