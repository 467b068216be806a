// All locks of this backend that have holders: sessions that share a run's keys.
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
    const auto got =
        keys_[r.key].try_take(owner_of(r), manner_.places, r.lease, loop_.now(), manner_.reentrant);
    if (got) {
      ++holds_;
      co_return *got;
    }
    if (!manner_.waits) co_return refusal::busy;
    co_return co_await wait_in_line(r);
  }

  task<outcome<grant>> renew(request r) override {
    count_call();
    rings to_ring;
    const auto held = keys_[r.key].extend(owner_of(r), r.lease, loop_.now(), to_ring);
    to_ring.ring_all(loop_);
    if (!held) co_return refusal::not_owner;
    co_return *held;
  }

  task<outcome<nothing>> release(request r) override {
    count_call();
    rings to_ring;
    const bool held = keys_[r.key].give_back(owner_of(r), loop_.now(), to_ring);
    to_ring.ring_all(loop_);
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
    waiter me{loop_, owner_of(r), r, manner_.places};
    rings to_ring;
    key.join(me, loop_.now(), to_ring);
    to_ring.ring_all(loop_);
    for (bool over = false; !over;) {
      const bool rung = co_await me.bell.wait_until(me.looks_again);
      rings next_to_ring;
      over = key.look_again(me, rung, loop_.now(), next_to_ring);
      next_to_ring.ring_all(loop_);
    }
    if (me.ringing) co_await me.bell.wait();  // the ring may come after the deadline
    if (!me.granted) co_return refusal::deadline;
    ++sent_.wakeups;
    ++holds_;
    co_return *me.granted;
  }

  // Lost holds stay counted, so this may search without finding any, but it never misses one.
  void give_all_back() {
    if (holds_ == 0) return;
    for (key_lock& key : keys_) {
      rings to_ring;
      key.give_back_for(this, loop_.now(), to_ring);
      to_ring.ring_all(loop_);
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

class lock_driver final : public driver {
 public:
  lock_driver(key_locks keys, manner m) : keys_(std::move(keys)), manner_(m) {}

  task<description> prepare(loop&, time_point) override {
    co_return description{{"server", "this process"}};
  }

  task<void> wipe(loop&, time_point) override {
    for (key_lock& key : *keys_) key.reset();
    co_return;
  }

  task<std::unique_ptr<session>> open(loop& l, instance, time_point) override {
    co_return std::make_unique<lock_session>(l, *keys_, manner_);
  }

  task<server_counters> counters(loop&, time_point) override {
    std::uint64_t calls = 0;
    for (key_lock& key : *keys_) calls += key.calls();
    co_return server_counters{{"commands", calls}};
  }

 private:
  const key_locks keys_;
  const manner manner_;
};

}  // namespace

std::unique_ptr<driver> lock_on(key_locks keys, manner m) {
  return std::make_unique<lock_driver>(std::move(keys), m);
}

}  // namespace lockmark::memory
