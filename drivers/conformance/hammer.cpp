// Many clients on few keys, which check each other's holds.
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "drivers/conformance/conformance.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::conformance {
namespace {

using namespace std::chrono_literals;

// One driver's clients and their remaining cycles.
struct side {
  side(driver& drv, const lock_kind& k, const hammering& h, bool w)
      : d(drv), kind(k), left(static_cast<std::int64_t>(h.cycles)), writes(w) {}

  driver& d;
  const lock_kind& kind;
  std::atomic<std::int64_t> left;
  const bool writes;
};

// All holders are counted in one number, so that entering and checking are one atomic step.
constexpr std::uint64_t one_writer = std::uint64_t{1} << 32;

// State shared by all clients of all threads.
struct shared_state {
  explicit shared_state(const hammering& h) : how(h), inside(h.keys), last_token(h.keys) {}

  // Whether one more is too many beside the holders `before` it.
  bool is_crowded(std::uint64_t before, bool writes) const {
    if (writes) return before > 0;
    return before >= one_writer || (how.holders != 0 && before >= how.holders);
  }

  const hammering& how;
  std::deque<side> sides;                          // sessions alternate between them
  std::vector<std::atomic<std::uint64_t>> inside;  // by key
  std::vector<std::atomic<std::uint64_t>> last_token;
  std::mutex result_mutex;
  damage result;
  std::exception_ptr failure;
};

// One thread's share.
struct shared_load {
  shared_state& all;
  loop& l;
  time_point end;
  damage result{};
};

class hammerer {
 public:
  hammerer(shared_load& c, side& mine, session& s, std::uint32_t client, std::uint32_t seed)
      : load_(c), side_(mine), session_(s), client_(client), random_(seed) {}

  task<void> run() {
    while (side_.left > 0 && load_.l.now() < load_.end) {
      co_await cycle(static_cast<std::uint32_t>(random_() % load_.all.how.keys));
    }
  }

 private:
  // With grace: a deadline that passes while a reply is on its way would cause doubt. It and the
  // lease outlast what a busy machine needs for one reply.
  request ask(std::uint32_t key, duration wait) const {
    return {key, client_, 60s, std::min(load_.end, load_.l.now() + wait), 30s};
  }

  task<void> cycle(std::uint32_t key) {
    const auto got = co_await session_.acquire(ask(key, load_.all.how.wait));
    if (got.in_doubt()) ++load_.result.doubts;
    if (got.refused()) ++load_.result.refused;
    if (!got.done()) {
      co_await pause();
      co_return;
    }
    if (side_.kind.has.has(feature::optimistic)) {
      co_await load_.l.yield();
    } else {
      co_await be_inside(key, got.value().token);
    }
    const auto gone = co_await session_.release(ask(key, 2s));
    count(gone);
    if (gone.refused(refusal::conflict)) co_await pause();
  }

  task<void> be_inside(std::uint32_t key, std::uint64_t token) {
    const std::uint64_t me = side_.writes ? one_writer : 1;
    const std::uint64_t before = load_.all.inside[key].fetch_add(me);
    if (load_.all.is_crowded(before, side_.writes)) ++load_.result.overlaps;
    if (load_.all.last_token[key].exchange(token) >= token) ++load_.result.tokens_fell;
    co_await load_.l.yield();
    co_await load_.l.yield();
    load_.all.inside[key].fetch_sub(me);
  }

  void count(const outcome<nothing>& gone) {
    if (gone.done()) {
      ++load_.result.granted;
      --side_.left;
    }
    if (gone.in_doubt()) ++load_.result.doubts;
    if (gone.refused(refusal::not_owner)) ++load_.result.lost_holds;
    if (gone.refused(refusal::conflict)) ++load_.result.conflicts;
  }

  task<void> pause() { return load_.l.sleep_for(std::chrono::microseconds{100 + random_() % 900}); }

  shared_load& load_;
  side& side_;
  session& session_;
  const std::uint32_t client_;
  std::minstd_rand random_;
};

task<void> work_in(shared_load& c, std::vector<std::unique_ptr<session>>& sessions,
                   std::uint32_t seed) {
  std::vector<std::unique_ptr<hammerer>> hammerers;
  scope working{c.l};
  for (std::size_t n = 0; n < sessions.size(); ++n) {
    side& mine = c.all.sides[n % c.all.sides.size()];
    for (std::uint32_t client = 0; client < c.all.how.clients; ++client) {
      hammerers.push_back(std::make_unique<hammerer>(c, mine, *sessions[n], client, ++seed));
      working.spawn(hammerers.back()->run());
    }
  }
  co_await working.join();
}

task<void> open_sessions(shared_load& c, std::uint32_t thread,
                         std::vector<std::unique_ptr<session>>& sessions) {
  const hammering& how = c.all.how;
  for (std::uint32_t n = 0; n < how.sessions; ++n) {
    const std::uint32_t number = thread * how.sessions + n;
    instance who{"hammer" + std::to_string(number), number, how.clients, 10s};
    driver& mine = c.all.sides[n % c.all.sides.size()].d;
    auto opened = co_await mine.open(c.l, std::move(who), c.end);
    sessions.push_back(std::move(opened));
  }
}

task<void> work(shared_load& c, std::uint32_t thread) {
  std::vector<std::unique_ptr<session>> sessions;
  std::exception_ptr failure;
  try {
    co_await open_sessions(c, thread, sessions);
    co_await work_in(c, sessions, 1000 * thread);
  } catch (...) {
    failure = std::current_exception();
  }
  for (const auto& s : sessions) co_await s->close();
  if (failure) std::rethrow_exception(failure);
}

void add_to(damage& sum, const damage& d) {
  sum.granted += d.granted;
  sum.overlaps += d.overlaps;
  sum.tokens_fell += d.tokens_fell;
  sum.lost_holds += d.lost_holds;
  sum.refused += d.refused;
  sum.conflicts += d.conflicts;
  sum.doubts += d.doubts;
}

void run_thread(shared_state& all, std::uint32_t thread) {
  const real_clock clock;
  loop l{clock};
  shared_load mine{all, l, clock.now() + all.how.limit};
  std::exception_ptr failure;
  try {
    run_to_end(l, work(mine, thread));
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard guard(all.result_mutex);
  add_to(all.result, mine.result);
  if (failure) all.failure = failure;
}

damage run_threads(shared_state& all) {
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < all.how.threads; ++t) {
    threads.emplace_back([&all, t] { run_thread(all, t); });
  }
  for (std::thread& t : threads) t.join();
  if (all.failure) std::rethrow_exception(all.failure);
  return all.result;
}

}  // namespace

damage hammer(driver& d, const lock_kind& kind, const hammering& how) {
  shared_state all{how};
  all.sides.emplace_back(d, kind, how, false);
  return run_threads(all);
}

damage hammer(const two_halves& both, const hammering& how) {
  shared_state all{how};
  all.sides.emplace_back(both.readers, both.reader, how, false);
  all.sides.emplace_back(both.writers, both.writer, how, true);
  return run_threads(all);
}

}  // namespace lockmark::conformance
