#include "harness/run/thread_worker_pool.hpp"

#include <algorithm>
#include <atomic>

#include "harness/time/clock.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr duration look_again_after = 1ms;

}  // namespace

struct thread_worker_pool::member final : pool_member {
  member(const real_clock& clock, const worker_setup& c, share mine)
      : own_loop(std::make_unique<loop>(clock)), where(*own_loop), work(where, c, mine) {}
  member(loop& l, const worker_setup& c) : where(l), work(l, c, share{}) {}

  check::journal& journal() override { return work.journal(); }
  run::recorder& recorder() override { return work.recorder(); }
  const run::gauges& gauges() const override { return work.gauges(); }
  traffic sent() const override { return work.sent(); }

  // Runs the worker to its end. An exception becomes its failure.
  task<void> live() {
    try {
      co_await work.live();
    } catch (...) {
      failure = std::current_exception();
    }
    ended.store(true, std::memory_order_release);
  }
  // Readable from other threads.
  std::exception_ptr why_failed() const {
    return ended.load(std::memory_order_acquire) ? failure : work.failure();
  }
  bool started() const { return thread.joinable() || here != nullptr; }

  std::unique_ptr<loop> own_loop;  // null: on a loop given by the caller
  loop& where;
  worker work;
  std::thread thread;
  std::unique_ptr<scope> here;
  std::exception_ptr failure;  // readable once `ended`
  std::atomic<bool> ended{false};
};

thread_worker_pool::thread_worker_pool(const real_clock& clock, const worker_setup& c,
                                       std::uint32_t workers)
    : guard_(c.guard) {
  for (std::uint32_t i = 0; i < workers; ++i) {
    members_.push_back(std::make_unique<member>(clock, c, share{i, workers}));
  }
}

thread_worker_pool::thread_worker_pool(loop& l, const worker_setup& c) : guard_(c.guard) {
  members_.push_back(std::make_unique<member>(l, c));
}

thread_worker_pool::~thread_worker_pool() = default;

void thread_worker_pool::start() {
  for (const auto& m : members_) {
    if (m->own_loop == nullptr) {
      m->here = std::make_unique<scope>(m->where);
      m->here->spawn(m->live());
      continue;
    }
    m->thread = std::thread([&one = *m] {
      punctual_thread();
      run_to_end(one.where, one.live());
    });
  }
}

std::exception_ptr thread_worker_pool::failure() {
  for (const auto& m : members_) {
    if (auto why = m->why_failed()) return why;
  }
  return nullptr;
}

bool thread_worker_pool::all_ready() {
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& m) { return m->work.ready(); });
}

bool thread_worker_pool::all_quiet() {
  return std::all_of(members_.begin(), members_.end(), [](const auto& m) {
    return m->work.quiet() || !m->started() || m->ended.load(std::memory_order_acquire);
  });
}

void thread_worker_pool::go(time_point start) {
  for (const auto& m : members_) m->work.go(start);
}

void thread_worker_pool::stop() {
  for (const auto& m : members_) m->work.stop();
}

void thread_worker_pool::hurry() {
  for (const auto& m : members_) m->work.hurry();
}

void thread_worker_pool::close() {
  for (const auto& m : members_) m->work.close();
}

task<bool> thread_worker_pool::join(loop& controller, duration patience) {
  closing_progress closing(members(), controller.now());
  for (const auto& m : members_) {
    if (!m->started()) continue;
    while (!m->ended.load(std::memory_order_acquire)) {
      if (closing.idle(controller.now()) >= patience) co_return false;
      co_await controller.sleep_for(look_again_after);
    }
    if (m->thread.joinable()) m->thread.join();
    if (m->here) co_await m->here->join();
  }
  co_return true;
}

std::vector<pool_member*> thread_worker_pool::members() {
  std::vector<pool_member*> all;
  for (const auto& m : members_) all.push_back(m.get());
  return all;
}

}  // namespace lockmark::run
