#include <atomic>
#include <optional>

#include "drivers/memory/lock.hpp"

namespace lockmark::memory {
namespace {

// A key's version is the number of its commits.
struct alignas(64) versioned_key {
  std::atomic<std::uint64_t> version{0};
  std::atomic<std::uint64_t> calls{0};
};

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

class optimistic_driver final : public driver {
 public:
  explicit optimistic_driver(std::size_t keys) : keys_(keys) {}

  task<description> prepare(loop&, time_point) override {
    co_return description{{"server", "this process"}};
  }

  task<void> wipe(loop&, time_point) override {
    for (versioned_key& key : keys_) key.version = 0;
    co_return;
  }

  task<std::unique_ptr<session>> open(loop&, instance who, time_point) override {
    co_return std::make_unique<optimistic_session>(keys_, who.clients);
  }

  task<server_counters> counters(loop&, time_point) override {
    std::uint64_t calls = 0;
    for (const versioned_key& key : keys_) calls += key.calls;
    co_return server_counters{{"commands", calls}};
  }

  task<std::vector<std::uint64_t>> commits(loop&, time_point) override {
    std::vector<std::uint64_t> all;
    for (const versioned_key& key : keys_) all.push_back(key.version);
    co_return all;
  }

 private:
  std::vector<versioned_key> keys_;
};

}  // namespace

std::unique_ptr<driver> optimistic_on(std::size_t keys) {
  return std::make_unique<optimistic_driver>(keys);
}

}  // namespace lockmark::memory
