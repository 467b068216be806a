#include "harness/run/run_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/run/controller.hpp"
#include "harness/run/freezes.hpp"
#include "harness/run/guarding.hpp"
#include "harness/run/thread_worker_pool.hpp"

namespace lockmark::run {
namespace {

worker_setup worker_setup_for(const setup& s, const config::key_sampler& keys, const workload& what,
                              const window& measured, check::guard* guard) {
  const bool notes_answers = static_cast<bool>(s.on_event);
  return {s.job,        keys,     what,          s.behind, s.lock.has,
          measured,     s.run_id, notes_answers, guard,    std::string(s.lock.name),
          s.stuck_after};
}

}  // namespace

void end_with(const result&, const std::string& sentence) {
  fmt::print(stderr, "{}\n", sentence);
  std::abort();
}

history_checker::shape shape_of(const checked& what) {
  const std::size_t clients = what.job.clients_in_all();
  history_checker::shape shape;
  shape.keys = what.job.keys.count(clients);
  shape.clients = clients;
  shape.competitors = what.job.keys.kind == config::key_choice::shape::own ? 1 : clients;
  shape.lock_has = what.lock.has;
  shape.holders = what.holders;
  shape.clocks = what.clocks;
  shape.wait_ns = what.job.wait.count();
  shape.mixes_readers = what.job.read_share > 0;
  shape.keeps_grants = !what.job.faults.empty();
  return shape;
}

result blank_result(const setup& s) {
  result r;
  r.run_id = s.run_id;
  r.job = s.job;
  r.lock = s.lock.name;
  r.implementation = s.lock.algorithm;
  r.workload = s.workload.name;
  r.target = s.target;
  r.topology = s.topology;
  r.scenario = s.scenario;
  r.arguments = s.arguments;
  r.lock_has = s.lock.has;
  r.promises = s.lock.promises;
  r.holders = s.holders;
  return r;
}

result run_job(const setup& s, const real_clock& clock) {
  check_fit(s.job, s.lock, s.workload);
  const auto what = s.workload.make();
  const config::key_sampler keys(s.job.keys, s.job.clients_in_all());
  window own_window;
  own_guard guard(s.job, s.lock, s.holders);
  const worker_setup roles = worker_setup_for(s, keys, *what, own_window, guard.get());
  result r = blank_result(s);
  r.host = describe_host();
  loop l{clock};
  std::optional<thread_worker_pool> own;
  if (s.participants == nullptr) own.emplace(clock, roles, workers_for(s.job));
  worker_pool& workers = own ? static_cast<worker_pool&>(*own) : *s.participants;
  window& measured = own ? own_window : s.participants->measured();
  r.workers = static_cast<std::uint32_t>(workers.members().size());
  const duration least_window = std::min(s.job.stop_duration, s.job.stop_at_most);
  hiccup_meter meter(clock, hiccup_period(least_window), measured);
  const auto judge = [&meter, &workers](result& of) {
    meter.stop();
    const hiccups& seen = meter.seen();
    of.hiccup = seen.by_beat;
    of.late_wakes = seen.by_wake;
    judge_own_freezes(of, seen.freezes, seen.asleep);
#ifndef NDEBUG
    of.self.debug_build = true;
#endif
    judge_run(of, workers.cores() > 0 ? workers.cores() : usable_cores());
  };
  run_controller controller(s, l, workers, measured, [&](result& so_far, const std::string& why) {
    judge(so_far);
    s.on_stuck(so_far, why);
  });
  run_to_end(l, controller.conduct(r));
  judge(r);
  return r;
}

result run_job_simulated(const setup& s, simulated_clock& clock) {
  check_fit(s.job, s.lock, s.workload);
  const auto what = s.workload.make();
  const config::key_sampler keys(s.job.keys, s.job.clients_in_all());
  window measured;
  own_guard guard(s.job, s.lock, s.holders);
  const worker_setup roles = worker_setup_for(s, keys, *what, measured, guard.get());
  result r = blank_result(s);
  loop l{clock};
  thread_worker_pool workers(l, roles);
  run_controller controller(s, l, workers, measured, s.on_stuck);
  run_to_end(l, controller.conduct(r));
  r.harness_cpu = r.busiest_worker = 0;
  r.self.steal = 0;
  r.self.cpu_waiting.reset();
  r.self.times_throttled = 0;
  judge_run(r, 1);
  return r;
}

}  // namespace lockmark::run
