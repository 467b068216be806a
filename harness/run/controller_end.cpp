// The end of a run: the server's counts, the sessions, the wiping, and the conclusions.
#include <fmt/core.h>

#include "harness/faults/injector.hpp"
#include "harness/run/controller.hpp"
#include "harness/run/freezes.hpp"
#include "harness/stats/littles_law.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

// Time for a session to close its connections.
constexpr duration closing_within = 5s;

// The options that the lock really got.
config::job with_presets(config::job j, const lock_kind& lock) {
  for (const lock_option& o : lock.options) {
    j.options.emplace(std::string{o.name}, std::string{o.preset});
  }
  return j;
}

}  // namespace

// After the last client and before the sessions close, so that it covers exactly the load. If the
// server is gone by now, only its own counts are lost.
task<void> run_controller::count_on_server(result& r) {
  r.grants_in_all = static_cast<std::uint64_t>(collector_->sum(&gauges::granted));
  if (!pool_.all_quiet()) co_return;
  for (const pool_member* w : pool_.members()) r.sent += w->sent();
  if (r.how == ending::server_lost || !ways_lost().empty()) co_return;
  try {
    co_await ask_server(r, loop_.now() + cleaning_within);
  } catch (const no_server& gone) {
    r.end_as(ending::server_lost, fmt::format("after the load, {}", gone.what()));
  } catch (const std::exception& e) {
    r.end_as(ending::failed, fmt::format("after the load, {}", e.what()));
  }
}

task<void> run_controller::ask_server(result& r, time_point deadline) {
  const server_counters after =
      co_await calls_.wait_for(setup_.behind.counters(loop_, deadline), deadline, "counters");
  r.server = grown(server_before_, after);
  if (!setup_.lock.has.has(feature::optimistic)) co_return;
  const auto commits =
      co_await calls_.wait_for(setup_.behind.commits(loop_, deadline), deadline, "commits");
  for (std::uint32_t key = 0; key < commits.size(); ++key) {
    collector_->history().updates().server_counted(key, commits[key]);
  }
}

task<void> run_controller::close(result& r, duration wipe_within) {
  co_await faults_.join();
  co_await watch_->end();
  // If nothing was begun, cleaning up is not worth showing.
  if (pool_started_) {
    watch_->look(phase::cleaning, 0, 0);
    co_await end_workers(r);
  }
  // A lost server is asked once more, in case it is back, but not waited for.
  const bool is_lost = r.how == ending::server_lost || !ways_lost().empty();
  co_await wipe(r, is_lost ? job_.command_timeout : wipe_within);
}

task<void> run_controller::end_workers(result& r) {
  pool_.stop();
  pool_.hurry();
  pool_.close();
  // Clients already given up on will not end any sooner now; the other sessions close.
  const duration more = pool_.all_quiet() ? calls_.patience() : duration::zero();
  pool_ended_ = co_await pool_.join(loop_, closing_within + more);
  if (!pool_ended_) r.end_as(ending::failed, calls_.sentence("close"));
  if (const std::string why = load_failure(); !why.empty()) r.end_as(ending::failed, why);
}

task<void> run_controller::wipe(result& r, duration within) {
  const time_point by = loop_.now() + within;
  std::string wrong;
  try {
    co_await calls_.wait_for(setup_.behind.wipe(loop_, by), by, "wipe");
  } catch (const std::exception& e) {
    wrong = e.what();
  }
  // Nothing can be removed from a lost server; the run's own ending says so.
  if (wrong.empty() || r.how == ending::server_lost) co_return;
  r.preflight.push_back(fmt::format("what the run created could not be removed: {}", wrong));
}

// Everything else has ended by now, and all measurements are in the result.
task<void> run_controller::end_the_stuck(result& r) {
  const bool all_ended = pool_ended_ && !calls_.any_left();
  if (!all_ended) on_stuck_(r, r.why.empty() ? calls_.sentence("wipe") : r.why);
  co_await calls_.join();
  if (!pool_ended_) pool_ended_ = co_await pool_.join(loop_, duration::max());
}

void run_controller::draw_conclusions(result& r) {
  mark_faults(r);
  for (const std::string& sentence : faults_.missed()) r.preflight.push_back(sentence);
  if (!faults_.failure().empty()) r.end_as(ending::failed, faults_.failure());
  collector_->fill(r);
  if (!own_trouble().empty()) r.end_as(ending::failed, own_trouble());
  r.faults = judge_faults(faults_.all(), r.found, with_presets(job_, setup_.lock), setup_.lock.has,
                          window_, r.server_is);
  if (pool_.guard() != nullptr) r.found.guard = pool_.guard()->counts();
  pool_.tell(r);
  judge_freezes(r, faults_.all());
  r.steady = stability_of(r.timeline);
  const auto little =
      stats::check_littles_law(collector_->in_flight_samples(), r.found.clients_in_flight);
  r.self.littles_law_fails = little.checked && little.failed;
  r.self.littles_law_difference = little.relative_difference;
}

}  // namespace lockmark::run
