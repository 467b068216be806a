// Reports the state of a run to its observers (setup::on_progress, setup::on_live). Decides
// nothing.
#pragma once

#include "harness/async/scope.hpp"
#include "harness/async/signal.hpp"
#include "harness/run/collector.hpp"
#include "harness/run/driver_calls.hpp"
#include "harness/run/live.hpp"

namespace lockmark::faults {
class schedule;
}

namespace lockmark::run {

struct setup;

class watch {
 public:
  // The arguments must outlive the watch.
  watch(const setup& s, loop& l, collector& g, const faults::schedule& planned,
        driver_calls& calls);

  // The load begins; `before`: the server's counters.
  void begin(time_point went, server_counters before);
  // The window begins. `known` identifies the run, and must outlive the watch.
  void begin_window(const result& known);

  // Five times a second. `fraction`: of the measurement that is done.
  void look(phase now, double elapsed_s, double fraction);

  // Time since a server last answered although it was asked. Failures count only if no answer came
  // since: a long wait for a lock is no failure.
  duration server_silent() const;

  // Stops reading the server's counters. Called last, and may be called again.
  task<void> end();

 private:
  task<void> count_on_server();
  void show_progress(phase now, double elapsed_s, double fraction);
  void show_live(phase now);

  const setup& setup_;
  loop& loop_;
  collector& collector_;
  const faults::schedule& faults_;
  driver_calls& calls_;
  scope background_;
  signal over_;
  bool counting_ = true;
  const result* known_ = nullptr;
  time_point went_;
  std::int64_t granted_before_ = 0;
  time_point granted_before_at_;
  time_point live_at_;
  server_counters server_before_;
  server_counters server_;
};

// The growth since `before`. A command missing there was not called before; any other counter that
// is not in both is left out.
server_counters grown(const server_counters& before, const server_counters& after);

}  // namespace lockmark::run
