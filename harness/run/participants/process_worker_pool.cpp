#include "harness/run/participants/process_worker_pool.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <new>

#include "harness/base/process.hpp"
#include "harness/run/guarding.hpp"
#include "harness/run/participants/remote.hpp"
#include "harness/run/result.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr duration look_again_after = 1ms;
// Limits once the load is told to end: the longest stop of a participant, and its longest silence.
constexpr duration wake_after = 2s;
constexpr duration kill_after = 10s;

common_layout common_layout_for(const config::job& job) {
  const bool guarded = job.guard != config::guard_kind::none;
  return {guarded ? job.keys.count(job.clients_in_all()) : 0};
}

}  // namespace

process_worker_pool::process_worker_pool(const real_clock& clock, const process_pool_setup& who)
    : clock_(clock),
      program_(who.program),
      layout_(common_layout_for(who.job)),
      memory_(layout_.bytes()) {
  check_guard(who.job, who.lock, who.holders);
  new (memory_.data()) common_block;
  if (layout_.registers > 0) {
    guard_.emplace(layout_.guarded(memory_.data()), who.lock.has.has(feature::fencing_token));
  }
  assignment a;
  a.job = who.job;
  a.lock = who.lock.name;
  a.workload = who.workload.name;
  a.options = who.options;
  a.run_id = who.run_id;
  a.participants = static_cast<std::uint32_t>(who.job.participants);
  a.notes_answers = who.notes_answers;
  a.common = layout_;
  a.own = participant_layout::for_one_of(a.participants);
  std::vector<std::uint32_t> numbers = who.numbers;
  for (std::uint32_t i = 0; who.numbers.empty() && i < a.participants; ++i) numbers.push_back(i);
  for (const std::uint32_t number : numbers) {
    a.number = number;
    a.target = who.target_of(number);
    members_.push_back(std::make_unique<remote>(a, who.lock.has.has(feature::optimistic)));
  }
}

process_worker_pool::~process_worker_pool() = default;

common_block& process_worker_pool::common() const {
  return layout_.block(memory_.data());
}

run::window& process_worker_pool::measured() {
  return common().window;
}

void process_worker_pool::start() {
  for (const auto& m : members_) m->start(program_, memory_.fd());
}

// One system call for all of them.
void process_worker_pool::look_for_the_dead() {
  std::vector<pollfd> watched;
  for (const auto& m : members_) {
    const bool there = m->started() && !m->over();
    watched.push_back({there ? m->process().ended_fd() : -1, POLLIN, 0});
  }
  if (poll(watched.data(), watched.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (watched[i].revents == 0) continue;
    if (const auto status = members_[i]->process().status()) members_[i]->end(*status);
  }
}

void process_worker_pool::fetch() {
  for (const auto& m : members_) m->fetch();
  look_for_the_dead();
}

std::exception_ptr process_worker_pool::failure() {
  look_for_the_dead();
  for (const auto& m : members_) {
    if (auto why = m->failure()) return why;
    if (m->died() && !m->was_ready() && !m->death_was_expected()) {
      return std::make_exception_ptr(
          std::runtime_error(fmt::format("participant {} {} before it was ready", m->number(),
                                         describe_status(m->wait_status()))));
    }
  }
  if (ended_by_force_.empty()) return nullptr;
  return std::make_exception_ptr(std::runtime_error(ended_by_force_));
}

bool process_worker_pool::all_ready() {
  look_for_the_dead();
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& m) { return m->was_ready(); });
}

bool process_worker_pool::all_quiet() {
  look_for_the_dead();
  if (stopped_at_) wake_the_stopped();
  return std::all_of(members_.begin(), members_.end(), [](const auto& m) {
    return !m->started() || m->over() || m->state() >= standing::quiet;
  });
}

bool process_worker_pool::kill_the_stuck() {
  for (const auto& m : members_) {
    if (m->started() && !m->over() && m->state() < standing::quiet) kill(*m);
  }
  return true;
}

// A participant without a promise for that long was stopped by someone who will not resume it.
void process_worker_pool::wake_the_stopped() {
  const time_point now = clock_.now();
  for (const auto& m : members_) {
    if (!m->started() || m->over() || m->state() >= standing::quiet) continue;
    const time_point heard = std::max(*stopped_at_, from_ns(m->promised_ns()));
    if (now - heard > wake_after) m->process().resume();
    if (now - heard > kill_after) kill(*m);
  }
}

void process_worker_pool::go(time_point start) {
  common().go_ns.store(to_ns(start));
  for (const auto& m : members_) m->tell(order::go);
}

void process_worker_pool::stop() {
  if (!stopped_at_) stopped_at_ = clock_.now();
  for (const auto& m : members_) {
    m->tell(order::stop);
    if (m->started()) m->process().resume();
  }
}

void process_worker_pool::hurry() {
  for (const auto& m : members_) m->tell(order::hurry);
}

void process_worker_pool::close() {
  for (const auto& m : members_) m->tell(order::close);
}

task<bool> process_worker_pool::join(loop& controller, duration patience) {
  const time_point since = controller.now();
  closing_progress closing(members(), since);
  const auto is_over = [](const auto& m) { return !m->started() || m->over(); };
  while (!std::all_of(members_.begin(), members_.end(), is_over)) {
    const duration waited = controller.now() - since;
    const bool is_stuck = closing.idle(controller.now()) >= patience;
    for (const auto& m : members_) {
      if (is_over(m)) continue;
      if (waited > wake_after) m->process().resume();
      if (!is_stuck) continue;
      if (ended_by_force_.empty()) {
        ended_by_force_ = fmt::format(
            "participant {} did not close its sessions in time, and was killed", m->number());
      }
      kill(*m);
    }
    look_for_the_dead();
    co_await controller.sleep_for(look_again_after);
  }
  co_return true;
}

std::vector<pool_member*> process_worker_pool::members() {
  std::vector<pool_member*> all;
  for (const auto& m : members_) all.push_back(m.get());
  return all;
}

const check::guard* process_worker_pool::guard() const {
  return guard_ ? &*guard_ : nullptr;
}

std::int64_t process_worker_pool::cpu_elsewhere_ns() const {
  std::int64_t sum = 0;
  for (const auto& m : members_) sum += m->cpu_ns();
  return sum;
}

std::string process_worker_pool::trouble() const {
  const auto all = members_.size();
  std::size_t dead = 0;
  for (const auto& m : members_) {
    if (m->overflowed()) {
      return fmt::format(
          "participant {} measured more than was read in time; was lockmark itself stopped, or "
          "the machine overloaded?",
          m->number());
    }
    dead += m->died() ? 1 : 0;
  }
  return dead == all ? "every participant has died" : "";
}

standing process_worker_pool::state(std::size_t member) const {
  return members_.at(member)->state();
}

std::exception_ptr process_worker_pool::failure_of(std::size_t member) const {
  return members_.at(member)->failure();
}

std::vector<death> process_worker_pool::deaths() const {
  std::vector<death> all;
  for (const auto& m : members_) {
    if (!m->died()) continue;
    all.push_back({m->number(), m->wait_status(), m->died_ns(), m->measured_until_ns()});
  }
  return all;
}

void process_worker_pool::tell(result& r) const {
  const auto all = deaths();
  count_absent(r, all, members_.size());
  std::vector<death> unasked;
  for (const death& d : all) {
    const auto is_it = [&](const auto& m) { return m->number() == d.participant; };
    const auto& m = *std::ranges::find_if(members_, is_it);
    if (!m->death_was_expected()) unasked.push_back(d);
  }
  mark_deaths(r, unasked, members_.size());
  const std::string why = trouble();
  if (!why.empty()) r.end_as(ending::failed, why);
}

std::uint32_t process_worker_pool::count() const {
  return static_cast<std::uint32_t>(members_.size());
}

pid_t process_worker_pool::pid(std::uint32_t participant) const {
  return members_.at(participant)->process().pid();
}

bool process_worker_pool::lives(std::uint32_t participant) const {
  const remote& m = *members_.at(participant);
  return m.started() && !m.over() && !m.death_was_expected();
}

std::int64_t process_worker_pool::holding(std::uint32_t participant) const {
  return members_.at(participant)->holding();
}

time_point process_worker_pool::kill(std::uint32_t participant) {
  return kill(*members_.at(participant));
}

time_point process_worker_pool::kill(remote& m) {
  look_for_the_dead();  // an earlier death is not our doing
  const time_point before = clock_.now();
  if (m.over()) return before;
  m.expect_death(before);
  m.process().kill();
  return before;
}

time_point process_worker_pool::pause(std::uint32_t participant) {
  const time_point before = clock_.now();
  members_.at(participant)->process().pause();
  return before;
}

void process_worker_pool::resume(std::uint32_t participant) {
  members_.at(participant)->process().resume();
}

}  // namespace lockmark::run
