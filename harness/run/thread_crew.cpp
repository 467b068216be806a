#include "harness/run/thread_crew.hpp"

#include <algorithm>
#include <atomic>

#include "harness/time/thread.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr duration look_again_after = 1ms;

}  // namespace

struct thread_crew::member final : crew_member {
  member(const real_clock& clock, const cast& c, share mine)
      : own_loop(std::make_unique<loop>(clock)), where(*own_loop), work(where, c, mine) {}
  member(loop& l, const cast& c) : where(l), work(l, c, share{}) {}

  check::journal& journal() override { return work.journal(); }
  run::recorder& recorder() override { return work.recorder(); }
  const run::gauges& gauges() const override { return work.gauges(); }
  traffic sent() const override { return work.sent(); }

  // Runs the worker to its end. What it throws is what it tells as its failure.
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

  std::unique_ptr<loop> own_loop;  // null: on somebody else's loop
  loop& where;
  worker work;
  std::thread thread;
  std::unique_ptr<scope> here;
  std::exception_ptr failure;  // readable once `ended`
  std::atomic<bool> ended{false};
};

thread_crew::thread_crew(const real_clock& clock, const cast& c, std::uint32_t workers)
    : guard_(c.guard) {
  for (std::uint32_t i = 0; i < workers; ++i) {
    members_.push_back(std::make_unique<member>(clock, c, share{i, workers}));
  }
}

thread_crew::thread_crew(loop& l, const cast& c) : guard_(c.guard) {
  members_.push_back(std::make_unique<member>(l, c));
}

thread_crew::~thread_crew() = default;

void thread_crew::start() {
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

std::exception_ptr thread_crew::failure() {
  for (const auto& m : members_) {
    if (auto why = m->why_failed()) return why;
  }
  return nullptr;
}

bool thread_crew::all_ready() {
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& m) { return m->work.ready(); });
}

bool thread_crew::all_quiet() {
  return std::all_of(members_.begin(), members_.end(), [](const auto& m) {
    return m->work.quiet() || !m->started() || m->ended.load(std::memory_order_acquire);
  });
}

void thread_crew::go(time_point start) {
  for (const auto& m : members_) m->work.go(start);
}

void thread_crew::stop() {
  for (const auto& m : members_) m->work.stop();
}

void thread_crew::hurry() {
  for (const auto& m : members_) m->work.hurry();
}

void thread_crew::close() {
  for (const auto& m : members_) m->work.close();
}

task<bool> thread_crew::join(loop& conductor, duration patience) {
  closing_progress closing(members(), conductor.now());
  for (const auto& m : members_) {
    if (!m->started()) continue;
    while (!m->ended.load(std::memory_order_acquire)) {
      if (closing.idle(conductor.now()) >= patience) co_return false;
      co_await conductor.sleep_for(look_again_after);
    }
    if (m->thread.joinable()) m->thread.join();
    if (m->here) co_await m->here->join();
  }
  co_return true;
}

std::vector<crew_member*> thread_crew::members() {
  std::vector<crew_member*> all;
  for (const auto& m : members_) all.push_back(m.get());
  return all;
}

}  // namespace lockmark::run
