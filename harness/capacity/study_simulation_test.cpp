// Studies beside replays, on simulated locks that serve in order and at random: what they take, and
// whether minutes at the rate they find hold as often as they promise.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <future>

#include "harness/capacity/replay.hpp"
#include "harness/capacity/simulated_runs.hpp"

namespace lockmark::capacity {
namespace {

using namespace std::chrono_literals;

// A lock that serves in order, with the arrivals and holds of real runs, and hand-offs of its own.
class queueing_lock {
 public:
  explicit queueing_lock(service_order order) { lock_.order = order; }

  observation run(const config::job& job, const std::vector<objective>& objectives) {
    ++runs;
    spent_s += std::chrono::duration<double>(job.stop_duration).count();
    if (!job.arrives_by_rate()) return closed_.run(job, objectives);
    observation o = closed_.run(job, objectives);
    o.against.clear();
    o.warmup_s = 1;
    const double until_s = 1 + std::chrono::duration<double>(job.stop_duration).count();
    const auto all = waits(job, until_s);
    for (const objective& goal : objectives) {
      o.against.push_back(
          stretches_of(all, static_cast<double>(goal.limit_ns) / 1e9, 0.5, 1, until_s));
    }
    return o;
  }
  // Of single minutes at the rate, those in which at most one of a hundred waits for 50 ms.
  double minutes_that_hold(config::job job) const {
    job.seed = 77;
    const stretches minutes = stretches_of(waits(job, 60 * 100), 0.05, 60, 0, 60 * 100);
    int held = 0;
    for (const stretch& m : minutes.parts) {
      held += static_cast<double>(m.late) <= 0.01 * static_cast<double>(m.attempts) ? 1 : 0;
    }
    return held / 100.0;
  }

  int runs = 0;
  double spent_s = 0;

 private:
  std::vector<outcome_of_arrival> waits(const config::job& job, double until_s) const {
    const auto until = duration{std::llround(1e9 * until_s)};
    return replay(pace::arrivals_of(job, 1, until), lock_, job.seed + 1'000'000);
  }

  simulated_runs closed_;
  lock_model lock_{.lone_s = lone_s, .handoffs_s = {0.0008, 0.001, 0.0018}, .patience_s = 5};
};

// Means of several studies of a lock.
struct studied {
  double promised = 0;  // the share of minutes that hold
  double held = 0;
  double spent_s = 0;
  bool all_replayed = true;
};

studied several_studies(service_order order) {
  studied all_of_them;
  constexpr int studies = 4;
  for (int i = 0; i < studies; ++i) {
    queueing_lock lock(order);
    config::job job = open_job();
    job.hold = *config::parse_distribution("exponential(4ms)");
    job.seed = 1000 * static_cast<std::uint64_t>(i + 1);
    settings s = usual("p99<50ms");
    s.cell = 4s;
    study all(
        {}, job, s,
        [&](const config::job& j, const std::string&) { return lock.run(j, s.objectives); },
        [](const findings&) {});
    all.find_rate();
    if (!all.found().replayed) return {.all_replayed = false};
    job.rate = *config::parse_rate(fmt::format("{}/s", all.found().rate->value));
    all_of_them.promised += all.found().replayed->minutes_that_hold / studies;
    all_of_them.held += lock.minutes_that_hold(job) / studies;
    all_of_them.spent_s += lock.spent_s / studies;
  }
  return all_of_them;
}

// Within minutes, and minutes at the rate found hold as often as promised.
TEST(a_study_beside_replays, takes_minutes_and_keeps_its_promise) {
  // A minute of computing each.
  auto at_random = std::async(std::launch::async, several_studies, service_order::random);
  const studied in_order = several_studies(service_order::of_arrival);
  for (const studied& all : {in_order, at_random.get()}) {
    EXPECT_TRUE(all.all_replayed);
    EXPECT_GE(all.promised, 0.95);
    EXPECT_GE(all.held, all.promised - 0.05);
    EXPECT_LT(all.spent_s, 360);
  }
}

}  // namespace
}  // namespace lockmark::capacity
