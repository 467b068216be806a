#include "harness/run/participants/participant.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "harness/async/fd_watch.hpp"
#include "harness/async/scope.hpp"
#include "harness/run/participants/interval_codec.hpp"
#include "harness/run/participants/shared_memory.hpp"
#include "harness/run/participants/spawn.hpp"
#include "harness/run/worker.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr duration report_every = 10ms;
constexpr duration very_long = 1h;
constexpr duration tidying_within = 2s;

void tell(participant_block& own, failure_kind kind, std::string_view sentence) {
  if (own.has_failed.load(std::memory_order_relaxed)) return;
  const std::size_t size = std::min(sentence.size(), own.sentence.size() - 1);
  std::copy_n(sentence.data(), size, own.sentence.data());
  own.failure = kind;
  own.has_failed.store(true, std::memory_order_release);
}

void tell(participant_block& own, const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const usage_error& e) {
    tell(own, failure_kind::usage, e.what());
  } catch (const no_server& e) {
    tell(own, failure_kind::no_server, e.what());
  } catch (const std::exception& e) {
    tell(own, failure_kind::other, e.what());
  }
}

// Passes orders from the socket to the worker, and the worker's measurements to the memory.
class go_between {
 public:
  go_between(loop& l, worker& work, const common_block& common, participant_block& own,
             std::span<char> interval_room)
      : loop_(l),
        work_(work),
        common_(common),
        own_(own),
        intervals_(own.intervals, interval_room),
        orders_(l, control_fd) {}

  // The worker's whole life. Rethrows its exception, after all measurements were handed over.
  task<void> live();

 private:
  task<void> obey();
  task<void> report();
  void take_orders();
  void carry_out(order what);
  void hand_over();

  loop& loop_;
  worker& work_;
  const common_block& common_;
  participant_block& own_;
  record_writer intervals_;
  fd_watch orders_;
  bool over_ = false;
};

task<void> go_between::live() {
  scope beside{loop_};
  beside.spawn(obey());
  beside.spawn(report());
  std::exception_ptr failure;
  try {
    co_await work_.live();
  } catch (...) {
    failure = std::current_exception();
  }
  over_ = true;
  orders_.interrupt();
  co_await beside.join();
  hand_over();
  if (failure) std::rethrow_exception(failure);
}

task<void> go_between::obey() {
  while (!over_) {
    co_await orders_.wait(fd_watch::readable, loop_.now() + very_long);
    if (!over_) take_orders();
  }
}

void go_between::take_orders() {
  char orders[16];
  const auto got = recv(control_fd, orders, sizeof orders, MSG_DONTWAIT);
  if (got == 0) _exit(1);  // the controller is gone
  for (long i = 0; i < got; ++i) carry_out(static_cast<order>(orders[i]));
}

void go_between::carry_out(order what) {
  switch (what) {
    case order::go: return work_.go(from_ns(common_.go_ns.load()));
    case order::stop: return work_.stop();
    case order::hurry: return work_.hurry();
    case order::close: return work_.close();
  }
}

task<void> go_between::report() {
  while (!over_) {
    co_await loop_.sleep_for(report_every);
    hand_over();
  }
}

// A reader that sees a state finds all the data that belongs to it in the memory.
void go_between::hand_over() {
  if (const auto why = work_.failure()) tell(own_, why);
  own_.cpu_ns.store(process_cpu_ns(), std::memory_order_relaxed);
  const standing now = work_.quiet()   ? standing::quiet
                       : work_.ready() ? standing::ready
                                       : standing::starting;
  for (auto& full : work_.recorder().take()) {
    intervals_.put(encode(*full));
    work_.recorder().give_back(std::move(full));
  }
  own_.state.store(now, std::memory_order_release);
}

void work_as(const assignment& a, const outfitter& equip, std::byte* common_memory,
             std::byte* own_memory) {
  common_block& common = a.common.block(common_memory);
  participant_block& own = a.own.block(own_memory);
  const equipment with = equip(a);
  const auto what = with.workload.make();
  const config::key_sampler keys(a.job.keys, a.job.clients_in_all());
  check::guard guard(a.common.guarded(common_memory), with.lock.has.has(feature::fencing_token));
  const bool guarded = a.common.registers > 0;
  const worker_setup roles{a.job,
                           keys,
                           *what,
                           *with.behind,
                           with.lock.has,
                           common.window,
                           a.run_id,
                           a.notes_answers,
                           guarded ? &guard : nullptr,
                           std::string(with.lock.name)};
  check::event_writer events(own.events, a.own.event_room(own_memory));
  const real_clock clock;
  loop l{clock};
  worker work(l, roles, {a.number, a.participants}, {&own.gauges, &events});
  go_between between(l, work, common, own, a.own.interval_room(own_memory));
  punctual_thread();
  run_to_end(l, between.live());
  try {
    run_to_end(l, with.behind->tidy(l, l.now() + tidying_within));
  } catch (const no_server&) {
    // The run controller's process will notice and report it when it wipes.
  }
}

// Only lockmark passes these descriptors, in this order.
bool was_started_by_lockmark() {
  struct stat control{}, common{}, own{};
  return fstat(control_fd, &control) == 0 && fstat(common_memory_fd, &common) == 0 &&
         fstat(own_memory_fd, &own) == 0 && S_ISSOCK(control.st_mode) && S_ISREG(common.st_mode) &&
         S_ISREG(own.st_mode);
}

}  // namespace

int be_participant(const outfitter& equip) {
  if (!was_started_by_lockmark()) {
    throw usage_error("participant is what lockmark starts for itself; use lockmark run");
  }
  prctl(PR_SET_NAME, "lm-participant");
  for (const int fd : {control_fd, common_memory_fd, own_memory_fd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  std::string text;
  if (!receive_text(control_fd, text)) return 1;
  const assignment a = read_assignment(text);
  const shared_memory common(unique_fd{common_memory_fd}, a.common.bytes());
  const shared_memory memory(unique_fd{own_memory_fd}, a.own.bytes());
  participant_block& own = a.own.block(memory.data());
  try {
    work_as(a, equip, common.data(), memory.data());
  } catch (...) {
    tell(own, std::current_exception());
    own.state.store(standing::failed, std::memory_order_release);
    return 2;
  }
  own.state.store(standing::ended, std::memory_order_release);
  return 0;
}

}  // namespace lockmark::run
