// Tells those who watch a run how it stands (setup::on_progress, setup::on_live). Decides nothing.
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
  // What is looked at must outlive the watch.
  watch(const setup& s, loop& l, collector& g, const faults::schedule& planned,
        driver_calls& calls);

  // The load begins; `before` is what the server's counters said.
  void begin(time_point went, server_counters before);
  // The window begins. `known` says which run it is, and must outlive the watch.
  void begin_window(const result& known);

  // Five times a second. `fraction`: how much of the measurement is done.
  void look(phase now, double elapsed_s, double fraction);

  // How long no server has answered although it was asked. Failures count only where nothing was
  // answered since: waiting long for a lock is no failure.
  duration server_silent() const;

  // Ends the looks at the server's counters. Called last, and may be called again.
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

// What has grown since `before`. A command that is not in it was not called before; anything else
// that is not in both is left out.
server_counters grown(const server_counters& before, const server_counters& after);

}  // namespace lockmark::run
