#include "drivers/memory/lock.hpp"

namespace lockmark::memory {
namespace {

class lock_session final : public session {
 public:
  lock_session(loop& l, std::vector<key_lock>& keys, manner m)
      : loop_(l), keys_(keys), manner_(m) {}
  ~lock_session() override { give_all_back(); }

  task<outcome<grant>> acquire(request r) override {
    count_call();
    const auto got = keys_[r.key].try_take(owner_of(r), r.lease, loop_.now(), manner_.reentrant);
    if (got) {
      ++holds_;
      co_return *got;
    }
    if (!manner_.waits) co_return refusal::busy;
    co_return co_await wait_in_line(r);
  }

  task<outcome<grant>> renew(request r) override {
    count_call();
    const auto [held, to_ring] = keys_[r.key].extend(owner_of(r), r.lease, loop_.now());
    if (to_ring != nullptr) to_ring->ring(loop_);
    if (!held) co_return refusal::not_owner;
    co_return *held;
  }

  task<outcome<nothing>> release(request r) override {
    count_call();
    const auto [held, to_ring] = keys_[r.key].give_back(owner_of(r), loop_.now());
    if (to_ring != nullptr) to_ring->ring(loop_);
    if (!held) co_return refusal::not_owner;
    --holds_;
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

  task<outcome<grant>> wait_in_line(request r) {
    key_lock& key = keys_[r.key];
    waiter me{loop_, owner_of(r), r};
    if (waiter* const to_ring = key.join(me, loop_.now())) to_ring->ring(loop_);
    while (true) {
      const bool rung = co_await me.bell.wait_until(me.looks_again);
      const auto [over, to_ring] = key.look_again(me, rung, loop_.now());
      if (to_ring != nullptr) to_ring->ring(loop_);
      if (over) break;
    }
    if (me.ringing) co_await me.bell.wait();  // the ring may come after the deadline
    if (!me.granted) co_return refusal::deadline;
    ++sent_.wakeups;
    ++holds_;
    co_return *me.granted;
  }

  // Holds that were lost stay counted, so this may look in vain, but it never misses one.
  void give_all_back() {
    if (holds_ == 0) return;
    for (key_lock& key : keys_) {
      if (waiter* const to_ring = key.give_back_for(this, loop_.now())) to_ring->ring(loop_);
    }
    holds_ = 0;
  }

  loop& loop_;
  std::vector<key_lock>& keys_;
  const manner manner_;
  traffic sent_;
  std::uint64_t holds_ = 0;
  bool alive_ = true;
};

}  // namespace

task<description> lock_driver::prepare(loop&, time_point) {
  co_return description{{"server", "this process"}};
}

task<void> lock_driver::wipe(loop&, time_point) {
  for (key_lock& key : keys_) key.reset();
  co_return;
}

task<std::unique_ptr<session>> lock_driver::open(loop& l, instance, time_point) {
  co_return std::make_unique<lock_session>(l, keys_, manner_);
}

task<server_counters> lock_driver::counters(loop&, time_point) {
  std::uint64_t calls = 0;
  for (key_lock& key : keys_) calls += key.calls();
  co_return server_counters{{"commands", calls}};
}

task<std::uint64_t> lock_driver::commits(loop&, std::uint32_t, time_point) {
  throw std::logic_error("a lock that excludes has no commits");
  co_return 0;
}

}  // namespace lockmark::memory
