// Workers in processes of their own: participants that can really die, and be stopped.
//
//   lockmark (controller) --- socket: assignment, orders ---> participant: driver, workload, worker
//            <--- memory: state, gauges, events, intervals ---
//
// Events noted by a participant are readable at once, even after SIGKILL. Its death ends its
// clients' history: attempts in flight have ended, and its holds are over. The run goes on with the
// remaining participants. A participant that is stopped (SIGSTOP) only delays the merging of
// events, until it is resumed; the pool does that at the latest when the load has ended.
//
// Nothing here outlives the pool or this process. All calls come from one thread, the one that
// called start(): the kernel kills the participants when that thread ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/run/participants/assignment.hpp"
#include "harness/run/participants/deaths.hpp"
#include "harness/run/participants/shared_memory.hpp"
#include "harness/run/worker_pool.hpp"

namespace lockmark::run {

class remote;

// The participants of a run, and how they reach their server.
struct process_pool_setup {
  config::job job;  // participants > 0
  const lock_kind& lock;
  const workload_kind& workload;
  option_values options;      // of the lock, all of them
  std::uint32_t holders = 1;  // as in setup
  std::string run_id;
  // The URL for each participant, with its password; all the same, or each through a proxy.
  std::function<std::string(std::uint32_t participant)> target_of;
  bool notes_answers = false;              // of releases, for a history of the run
  // Those of the job's participants that this pool starts; empty: all of them.
  std::vector<std::uint32_t> numbers{};
  // For those who show the run: the target without its password, and the topology.
  std::string shown_target{};
  std::string topology{};
  std::string program = "/proc/self/exe";  // `program participant` starts a participant
};

class process_worker_pool final : public separate_pool {
 public:
  // Starts no process yet. Throws usage_error as own_guard does.
  process_worker_pool(const real_clock& clock, const process_pool_setup& who);
  // Kills and reaps the remaining participants.
  ~process_worker_pool() override;

  // separate_pool
  run::window& measured() override;
  void start() override;
  std::exception_ptr failure() override;
  bool all_ready() override;
  bool all_quiet() override;
  void go(time_point start) override;
  void stop() override;
  void hurry() override;
  void close() override;
  bool kill_the_stuck() override;
  // Kills participants that do not end, which is then a failure(): always true.
  task<bool> join(loop& controller, duration patience) override;
  std::vector<pool_member*> members() override;
  void fetch() override;
  const check::guard* guard() const override;
  std::int64_t cpu_elsewhere_ns() const override;
  std::string trouble() const override;
  void tell(result& r) const override;

  // Of one member: its standing, and its failure; null: none.
  standing state(std::size_t member) const;
  std::exception_ptr failure_of(std::size_t member) const;
  // Of those that died before they were told to end, also by kill().
  std::vector<death> deaths() const;

  // For faults. Participants count from 0 in the order of the pool, which has all of them:
  // instance i lives in participant i mod count().
  std::uint32_t count() const;
  // REQUIRES for these: start() was called.
  pid_t pid(std::uint32_t participant) const;
  bool lives(std::uint32_t participant) const;
  // The number of keys it holds now.
  std::int64_t holding(std::uint32_t participant) const;
  // SIGKILL; in effect on return. Returns the moment before it: everything the participant still
  // does is later.
  time_point kill(std::uint32_t participant);
  // SIGSTOP; in effect on return. Returns the moment before it.
  time_point pause(std::uint32_t participant);
  void resume(std::uint32_t participant);

 private:
  time_point kill(remote& m);
  void look_for_the_dead();
  void wake_the_stopped();
  common_block& common() const;

  const real_clock& clock_;
  const std::string program_;
  const common_layout layout_;
  shared_memory memory_;
  std::optional<check::guard> guard_;
  std::vector<std::unique_ptr<remote>> members_;
  std::optional<time_point> stopped_at_;  // when the load was told to end
  std::string ended_by_force_;            // a sentence; empty: join() killed none
};

}  // namespace lockmark::run
