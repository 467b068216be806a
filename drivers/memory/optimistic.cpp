#include "drivers/memory/optimistic.hpp"

#include <optional>

namespace lockmark::memory {
namespace {

class optimistic_session final : public session {
 public:
  optimistic_session(std::vector<versioned_key>& keys, std::uint32_t clients)
      : keys_(keys), reads_(clients) {}

  task<outcome<grant>> acquire(request r) override {
    const std::uint64_t version = asked(r.key).version.load(std::memory_order_acquire);
    reads_[r.client] = read{r.key, version};
    co_return grant{.token = version};
  }

  task<outcome<grant>> renew(request) override {
    throw std::logic_error("what is not held cannot be renewed");
    co_return refusal::not_owner;
  }

  task<outcome<nothing>> release(request r) override {
    versioned_key& key = asked(r.key);
    const auto last = std::exchange(reads_[r.client], std::nullopt);
    if (!last || last->key != r.key) co_return refusal::not_owner;
    std::uint64_t expected = last->version;
    if (!key.version.compare_exchange_strong(expected, expected + 1)) {
      co_return refusal::conflict;
    }
    co_return nothing{};
  }

  bool alive() const override { return true; }

  task<void> close() override { co_return; }

  traffic sent() const override { return sent_; }

 private:
  struct read {
    std::uint32_t key;
    std::uint64_t version;
  };

  // One call of this driver stands for one command and its answer.
  versioned_key& asked(std::uint32_t key) {
    ++sent_.commands;
    ++sent_.round_trips;
    keys_[key].calls.fetch_add(1, std::memory_order_relaxed);
    return keys_[key];
  }

  std::vector<versioned_key>& keys_;
  std::vector<std::optional<read>> reads_;  // by client
  traffic sent_;
};

}  // namespace

task<description> optimistic_driver::prepare(loop&, time_point) {
  co_return description{{"server", "this process"}};
}

task<void> optimistic_driver::wipe(loop&, time_point) {
  for (versioned_key& key : keys_) key.version = 0;
  co_return;
}

task<std::unique_ptr<session>> optimistic_driver::open(loop&, instance who, time_point) {
  co_return std::make_unique<optimistic_session>(keys_, who.clients);
}

task<server_counters> optimistic_driver::counters(loop&, time_point) {
  std::uint64_t calls = 0;
  for (const versioned_key& key : keys_) calls += key.calls;
  co_return server_counters{{"commands", calls}};
}

task<std::uint64_t> optimistic_driver::commits(loop&, std::uint32_t key, time_point) {
  co_return keys_[key].version;
}

}  // namespace lockmark::memory
