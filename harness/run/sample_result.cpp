#include "harness/run/sample_result.hpp"

#include <algorithm>

#include "harness/config/target.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t second = 1'000 * ms;
constexpr std::int64_t window_start_ns = 500 * second + 990 * ms;

void identify(result& r) {
  r.run_id = "20260131t090507a1";
  r.job = config::default_job();
  r.job.lock = "redis/lua";
  r.job.instances = 4;
  r.job.clients = 4;
  r.job.stop_duration = 5s;
  r.scenario = "contended";
  r.lock = "redis/lua";
  r.implementation = "two scripts, as most small Redis lock libraries have them";
  r.workload = "mutex";
  r.target = config::parse_target("redis://user:s3cret@localhost:6379/0")->redacted();
  r.topology = "redis";
  r.lock_has = features{feature::lease} | feature::renewable;
  r.promises = safety::best_effort;
  r.arguments = {"lockmark", "run", "contended.yaml"};
  r.started_wall_ns = 1'769'850'307 * second;
  r.window_start_ns = window_start_ns;
  r.server_is = {{"server.version", "7.0.15"}, {"server.appendfsync", "everysec"}};
  r.host.host_name = "bench";
  r.host.kernel = "6.1.0";
  r.host.cores = 2;
}

void find(result& r) {
  r.found.transfers = 5'000;
  r.found.chances = 5'000;
  r.found.lasting_holds = 5'000;
  r.found.grants = 4'900;
  r.found.held_ns = 4 * second;
  r.found.handed_ns = 1 * second - 10 * ms;
  r.found.idle_while_wanted_ns = 1 * second;
  r.found.transfer.record(800'000, 4'000);
  r.found.self_reacquire.record(100'000, 900);
  r.found.clients_in_flight = 15.5;
  for (std::uint32_t c = 0; c < 16; ++c) r.found.grants_by_client.push_back(300 + c);
  r.found.clients.attempted = 16;
  r.found.clients.lowest_success = {3, 310, 279};
  r.found.clients.highest_p99 = {5, 400, true, {1'000 * ms, true}};
  stats::key_fairness key(16);
  for (std::uint32_t g = 0; g < 640; ++g) key.grant(r.found.fairness, g % 16, g, g + 10);
  key.finish(r.found.fairness);
  r.grants_in_all = 6'000;
  r.sent = {12'000, 12'000, 600'000, 60'000, 0, 0};
  r.server = {{"commands", 18'000}, {"cmd.evalsha", 12'000}};
  r.harness_cpu = 0.4;
  r.busiest_worker = 0.35;
  r.floor = floor_measurement{2'000'000, 450, 900};
  r.hiccup.record(20'000, 4'990);
  r.hiccup.record(300'000, 10);
  r.steady = {true, false, {10 * ms, false}, {10 * ms, false}};
}

}  // namespace

sample_run::sample_run() {
  identify(r);
  // The first one began before the window, as a worker's interval does.
  add_interval(window_start_ns - 400 * ms, window_start_ns + 10 * ms, 20);
  for (int i = 0; i < 5; ++i) {
    add_interval(window_start_ns + 10 * ms + i * second,
                 window_start_ns + 10 * ms + (i + 1) * second, 1'000);
  }
  r.how = ending::complete;
  r.window_ns = 5 * second;
  r.warmup_s = 1;
  for (const interval& i : intervals) {
    r.totals.merge(i);
    r.bootstrap.add(i[series::response], static_cast<std::int64_t>(i.counts.not_granted()));
  }
  find(r);
}

// Of every 20 attempts, 19 get the lock after 1 to 19 ms of waiting, and one never does.
void sample_run::add_interval(std::int64_t start_ns, std::int64_t end_ns, int attempts) {
  interval i;
  i.start_ns = start_ns;
  i.end_ns = end_ns;
  for (int a = 0; a < attempts; ++a) {
    i[series::timer_lag].record(30'000);
    i.counts[counter::tries] += 2;
    if (a % 20 == 0) {
      ++i.counts[counter::refused_deadline];
      continue;
    }
    ++i.counts[counter::granted];
    i[series::response].record((a % 20) * ms + 30'000);
    i[series::service].record((a % 20) * ms);
    i[series::hold].record(200'000);
    i[series::release].record(150'000);
    i[series::loop_lag].record(40'000);
  }
  intervals.push_back(std::move(i));
  at_ns.push_back(std::max<std::int64_t>(0, start_ns - window_start_ns));
}

result sample_run::known() const {
  result before;
  identify(before);
  return before;
}

check::violation sample_violation(const result& r) {
  check::violation v;
  v.key = 0;
  v.first = {1, 41, r.window_start_ns + 100 * ms, r.window_start_ns + 140 * ms, false};
  v.second = {6, 42, r.window_start_ns + 120 * ms, r.window_start_ns + 155 * ms, false};
  v.overlap_ns = 20 * ms;
  v.certain = true;
  return v;
}

}  // namespace lockmark::run
