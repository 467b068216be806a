// Takes one run from the first contact with the server to the final clean-up: prepare -> open ->
// warm up -> measure -> drain -> count -> close -> wipe.
//
// Decides when phases begin and end. If a phase throws or never returns, the later phases still
// follow: the load ends, the sessions close, the server is wiped, and the measurements count.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/faults/schedule.hpp"
#include "harness/run/collector.hpp"
#include "harness/run/driver_calls.hpp"
#include "harness/run/run_job.hpp"
#include "harness/run/watch.hpp"
#include "harness/run/worker_pool.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::run {

class run_controller {
 public:
  // Called with all measurements when a driver call has not ended but everything else has. Returns
  // only if the call will end after all.
  using stuck_handler = std::function<void(result&, const std::string& sentence)>;

  run_controller(const setup& s, loop& l, worker_pool& workers, window& w, stuck_handler on_stuck);

  // Throws the error that kept the window from beginning. A later error is in the result, as `how`
  // and `why`; so are all measurements up to it.
  task<void> conduct(result& r);

 private:
  template <class Call>
  void pass_on(Call call);
  task<void> begin(result& r);
  task<void> look_ahead(result& r);
  task<void> open();
  [[noreturn]] void throw_with_count(const std::exception_ptr& why, duration elapsed) const;
  task<void> warm_up(result& r);
  task<void> measure(result& r);
  task<void> wait_until(time_point when, phase now, time_point since);
  task<void> end_window(result& r);
  task<void> drain(result& r);
  bool give_up_on_clients(result& r);
  task<void> count_on_server(result& r);
  task<void> ask_server(result& r, time_point deadline);
  task<void> close(result& r, duration wipe_within);
  task<void> end_workers(result& r);
  task<void> wipe(result& r, duration within);
  task<void> end_the_stuck(result& r);
  task<void> next_tick();
  void run_tick(phase now, time_point since);
  bool enough(time_point now) const;
  bool server_is_lost() const;
  std::string ways_lost() const;
  std::int64_t proxies_cpu_ns() const;
  std::string own_trouble() const;
  std::string load_failure() const;
  bool must_end(result& r) const;
  void mark_faults(result& r) const;
  int interrupts() const { return setup_.interrupts ? setup_.interrupts->load() : 0; }
  double done_fraction(double elapsed_s) const;
  void draw_conclusions(result& r);

  const setup& setup_;
  const config::job& job_;
  loop& loop_;
  worker_pool& pool_;
  window& window_;
  const stuck_handler on_stuck_;
  driver_calls calls_;
  faults::schedule faults_;
  std::unique_ptr<collector> collector_;
  std::unique_ptr<watch> watch_;
  stats::random_source jitter_{0x6a09e667};
  bool pool_started_ = false;
  bool load_began_ = false;
  bool pool_ended_ = true;
  int ticks_ = 0;
  time_point tick_at_;
  time_point went_;
  std::string not_passed_on_;  // the reason; empty: everything was
  server_counters server_before_;
  struct at_start {
    std::int64_t busy_ns = 0;
    std::int64_t elsewhere_ns = 0;
    std::int64_t proxies_ns = 0;
    host_sample host{};
  } window_began_;
};

// Limit for the server's counts after the load, and for wiping it.
inline constexpr duration cleaning_within = std::chrono::seconds{10};

}  // namespace lockmark::run
