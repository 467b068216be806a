#include "harness/faults/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/lists.hpp"
#include "harness/driver.hpp"
#include "harness/faults/kind.hpp"

namespace lockmark::faults {
namespace {

// True if the fault lasts until it is ended; other faults are instantaneous.
bool stays(const fault_plan& plan) {
  return plan.lasts > duration::zero() || plan.what->lasts(plan);
}

std::string told(const fault_plan& plan, const std::string& whom) {
  std::string text = describe(plan);
  const bool says_whom = whom.empty() || text.find(whom) != std::string::npos;
  return says_whom ? text : fmt::format("{} ({})", text, whom);
}

}  // namespace

// One plan, and the signal that wakes it if the window ends early.
struct schedule::appointment {
  appointment(loop& l, std::size_t n, fault_plan p) : number(n), plan(std::move(p)), stopped(l) {}
  std::size_t number;  // from 1
  fault_plan plan;
  signal stopped;
};

schedule::schedule(loop& l, std::vector<fault_plan> plans, injector* where)
    : loop_(l), where_(where), running_(l), finishing_(l) {
  if (plans.empty()) return;
  if (where_ == nullptr) {
    throw usage_error(
        "faults: nothing here can inflict {}: run the job on servers that lockmark starts "
        "(--on local:NAME), or give a command of yours (do: run)",
        name_of(plans.front()));
  }
  for (fault_plan& plan : plans) {
    where_->check(plan);
    const std::size_t number = appointments_.size() + 1;
    appointments_.push_back(std::make_unique<appointment>(l, number, std::move(plan)));
  }
}

schedule::~schedule() = default;

void schedule::begin(time_point window, time_point latest) {
  if (appointments_.empty()) return;
  window_ = window;
  latest_ = latest;
  over_ = false;
  for (const auto& a : appointments_) running_.spawn(keep(a.get()));
}

void schedule::stop() {
  if (stopping_ || over_) return;
  stopping_ = true;
  for (const auto& a : appointments_) a->stopped.set();
  where_->stop_waiting();
  finishing_.spawn(finish());
}

task<void> schedule::join() {
  stop();
  co_await finishing_.join();
}

// Errors were recorded where they happened: these coroutines do not throw.
task<void> schedule::finish() {
  co_await running_.join();
  co_await where_->end_all(loop_);
  over_ = true;
}

task<void> schedule::keep(appointment* mine) {
  time_point due = window_ + mine->plan.at;
  for (;;) {
    const bool came = co_await wait(mine, due);
    if (!came) co_return;
    std::string wrong;
    try {
      co_await inflict(mine);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) fail(*mine, wrong);
    if (!wrong.empty() || mine->plan.every == duration::zero()) co_return;
    // A fault that overran skips the times that it missed.
    while (due <= loop_.now()) due += mine->plan.every;
  }
}

task<bool> schedule::wait(appointment* mine, time_point due) {
  if (mine->plan.on.empty()) {
    const bool woken = co_await mine->stopped.wait_until(due);
    const bool due_came = !woken && !stopping_;
    co_return due_came;
  }
  std::string wrong;
  bool came = false;
  try {
    task<bool> answer = where_->awaited(loop_, mine->plan, latest_);
    came = co_await std::move(answer);
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  if (!wrong.empty()) fail(*mine, wrong);
  if (!came && wrong.empty()) {
    missed_.push_back(fmt::format("faults.{}: {} never sent '{}' {} times, so that it was not hit",
                                  mine->number, mine->plan.who, mine->plan.on, mine->plan.nth));
  }
  co_return came && !stopping_;
}

task<void> schedule::inflict(appointment* mine) {
  const fault_plan& plan = mine->plan;
  task<active_fault> starting = where_->begin(loop_, plan);
  const active_fault hit = co_await std::move(starting);
  const std::size_t number = all_.size();
  all_.push_back({name_of(plan),
                  told(plan, hit.whom),
                  hit.began,
                  {},
                  false,
                  mine->number - 1,
                  hit.participant});
  if (!stays(plan)) {
    if (plan.what->takes_time()) all_[number].lasted = loop_.now() - hit.began;
    all_[number].over = true;
    last_ended_ = loop_.now();
    co_return;
  }
  // A permanent fault lasts until the end of the window.
  const bool ends = plan.lasts > duration::zero();
  const time_point end = ends ? hit.began + plan.lasts : latest_;
  if (!stopping_) co_await mine->stopped.wait_until(end);
  std::exception_ptr failure;
  try {
    task<void> healing = where_->end(loop_, plan, hit);
    co_await std::move(healing);
  } catch (...) {
    failure = std::current_exception();
  }
  close(number);
  if (failure) std::rethrow_exception(failure);
}

void schedule::close(std::size_t number) {
  all_[number].lasted = loop_.now() - all_[number].began;
  all_[number].over = true;
  last_ended_ = loop_.now();
}

// Keeps the first failure: later ones may be its consequences.
void schedule::fail(const appointment& mine, const std::string& sentence) {
  if (!failure_.empty()) return;
  failure_ = fmt::format("faults.{}: {} failed: {}", mine.number, name_of(mine.plan), sentence);
}

std::vector<std::string> schedule::active() const {
  std::vector<std::string> kinds;
  for (const infliction& i : all_) {
    if (!i.over) kinds.push_back(i.kind);
  }
  return distinct(kinds);
}

time_point schedule::last_active() const {
  const bool any = std::any_of(all_.begin(), all_.end(), [](const auto& i) { return !i.over; });
  return any ? loop_.now() : last_ended_;
}

}  // namespace lockmark::faults
