// The whole study on a simulated lock: M/D/1 for open loops, saturated for closed ones.
#include "harness/capacity/study.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "harness/base/errors.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::capacity {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

constexpr double hold_s = 0.004;
constexpr double handoff_s = 0.001;
constexpr double lone_s = 0.0005;

// Its arrivals come from the job's seed, as those of real runs do.
struct simulation {
  stats::random_source random{0};
  std::vector<std::uint64_t> seeds;
  int runs = 0;
  double lone_s = capacity::lone_s;
  double polls = 1;  // of each grant on a key that others want

  observation run(const config::job& job, const std::vector<objective>& objectives) {
    observation o;
    o.run = fmt::format("run-{}", ++runs);
    random = stats::random_source{job.seed};
    seeds.push_back(job.seed);
    for (int i = 0; i < 1000; ++i) {
      o.hold.record(static_cast<std::int64_t>(hold_s * 1e9));
      o.release.record(200'000);
      o.loop_lag.record(50'000);
      (job.clients_in_all() > 1 ? o.transfer : o.self_reacquire)
          .record(static_cast<std::int64_t>(handoff_s * 1e9));
      if (job.renew) o.renewal.record(2'000'000);
    }
    const bool own_keys = job.keys.kind == config::key_choice::shape::own;
    o.commands_per_grant = own_keys ? 2 : 2 * polls;
    const double length_s = std::chrono::duration<double>(job.stop_duration).count();
    const bool open = job.arrives_by_rate();
    const double rate = open ? job.rate->per_second() : own_keys ? 5000 : 1 / (hold_s + handoff_s);
    arrive(o, rate, length_s, open, objectives);
    o.granted_per_s = rate;
    return o;
  }

 private:
  void arrive(observation& o, double rate, double length_s, bool open,
              const std::vector<objective>& objectives) {
    constexpr double part_s = 0.5;
    const auto parts = static_cast<std::size_t>(length_s / part_s);
    for (std::size_t k = 0; k < objectives.size(); ++k) {
      o.against.push_back({std::vector<stretch>(parts), part_s});
    }
    stats::histogram all;
    double work_s = 0;
    for (double t = 0, gap = 0; t < length_s; t += gap = random.exponential(1 / rate)) {
      work_s = open ? std::max(0.0, work_s - gap) : 0;
      const double wait_s = std::max(work_s, lone_s);
      work_s += hold_s + handoff_s;
      all.record(static_cast<std::int64_t>(wait_s * 1e9));
      const auto part = std::min(parts - 1, static_cast<std::size_t>(t / part_s));
      for (std::size_t k = 0; k < objectives.size(); ++k) {
        stretch& s = o.against[k].parts[part];
        ++s.attempts;
        s.late += wait_s * 1e9 > static_cast<double>(objectives[k].limit_ns) ? 1 : 0;
        s.waiting += wait_s / part_s;
      }
    }
    std::vector<double> quantiles;
    for (const objective& goal : objectives) quantiles.push_back(goal.quantile);
    quantiles.push_back(0.999);
    o.quantiles = stats::estimate_quantiles({all, 0, 0}, {}, quantiles, 1);
  }
};

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

  simulation closed_;
  lock_model lock_{.lone_s = lone_s, .handoffs_s = {0.0008, 0.001, 0.0018}, .patience_s = 5};
};

config::job open_job() {
  return config::parse_job(
      "lock: memory/lock\nload: {loop: poisson, rate: 100/s, instances: 4, clients: 16}\n"
      "keys: one\nhold: 4ms\nwait: 5s\nstop: {duration: 5s}\n",
      "test");
}

settings usual(const char* slo) {
  settings s;
  s.objectives = {*parse_objective(slo)};
  s.probe = 30s;
  s.probe_at_most = 5min;
  s.cell = 10s;
  s.clients = {1, 8};
  return s;
}

class a_study : public testing::Test {
 protected:
  study make(const settings& s, const config::job& job = open_job()) {
    subject what;
    what.lock = "memory/lock";
    what.fair = what.renewable = what.leased = true;
    return {what, job, s,
            [this, s](const config::job& j, const std::string&) {
              return simulation_.run(j, s.objectives);
            },
            [](const findings&) {}};
  }
  std::string why_not(const settings& s) {
    try {
      make(s).find_rate();
    } catch (const usage_error& e) {
      return e.what();
    }
    return "";
  }
  const plan_line& line(const findings& f, const std::string& name) {
    const auto found = std::ranges::find(f.plan, name, &plan_line::name);
    EXPECT_NE(found, f.plan.end()) << name;
    return *found;
  }
  simulation simulation_;
};

// Of 3,000 holds none outlived the lease; at their p99.9 one a second would lose the lock.
TEST_F(a_study, says_what_its_lease_loses) {
  settings s = usual("p99<50ms");
  s.wanted_per_s = 1000;
  study all = make(s);
  all.find_rate();
  all.plan();
  const plan_line& lease = line(all.found(), "lease");
  EXPECT_GT(lease.data["lease_s"].get<double>(), 2 * hold_s);
  const double holds = 3 * 1000 / lease.data["losses_per_s_at_most"].get<double>();
  EXPECT_NEAR(std::remainder(holds, 1000), 0, 1e-6);
  EXPECT_GE(holds, 1000);
  EXPECT_DOUBLE_EQ(lease.data["losses_per_s_of_quantile"].get<double>(),
                   1000 * (1 - lease.data["hold_quantile"].get<double>()));
  EXPECT_NE(lease.why.find("outlive it and lose the lock"), std::string::npos) << lease.why;
}

// A server does so many commands, not so many grants: who polls sends sixteen times as many.
TEST_F(a_study, counts_servers_by_commands) {
  settings s = usual("p99<50ms");
  s.wanted_per_s = 1000;
  simulation_.polls = 16;
  study all = make(s);
  all.find_rate();
  all.plan();
  const plan_line& servers = line(all.found(), "servers like this one");
  // 1,000/s of 16 each, where one server does 5,000/s of 1 and 70 % of that is allowed.
  EXPECT_EQ(servers.value, "5");
  EXPECT_NEAR(servers.data["cost"].get<double>(), 16, 1e-9);
  const plan_line& commands = line(all.found(), "server commands per second");
  EXPECT_NEAR(commands.data["share_of_server"].get<double>(), 3.2, 0.01);
}

TEST_F(a_study, finds_rate_bound_model_and_plan) {
  settings s = usual("p99<50ms");
  s.wanted_per_s = 1000;
  study all = make(s);
  all.find_rate();
  all.plan();
  all.sweep();
  const findings& f = all.found();
  ASSERT_TRUE(f.rate);
  // Of 200/s: the waits of M/D/1 reach 50 ms at a little above 80 %.
  EXPECT_GT(f.rate->value, 140);
  EXPECT_LT(f.rate->value, 180);
  EXPECT_GT(f.rate->high, f.rate->value);
  ASSERT_TRUE(f.base->bound_per_s);
  EXPECT_NEAR(f.base->bound_per_s->value, 200, 1);
  ASSERT_FALSE(f.model.empty());
  // Close to the edge waits vary, and a confirmation that passed met short ones.
  EXPECT_NEAR(f.model.back().mean_error(), 0, 0.25);
  EXPECT_NEAR(f.model.front().mean_error(), 0, 0.15);
  ASSERT_EQ(f.cells.size(), 2U);
  EXPECT_FALSE(f.cells[0].open);
  ASSERT_TRUE(f.cells[1].open);
  EXPECT_NEAR(f.cells[1].open->utilisation, 0.7, 0.01);

  const auto shards = line(f, "shards of the lock").data["shards"].get<int>();
  EXPECT_GE(shards, 7);
  EXPECT_LE(shards, 9);
  EXPECT_EQ(line(f, "lease").data["lag_of"], "renewals");
  EXPECT_GT(line(f, "lease").data["lease_s"].get<double>(), hold_s + 0.002);
  EXPECT_GE(line(f, "wait timeout").data["wait_s"].get<double>(), 0.05);
  EXPECT_NEAR(line(f, "server commands per second").data["commands_per_s"].get<double>(), 2000, 1);
  EXPECT_EQ(line(f, "servers like this one").value, "1");
  for (const plan_line& l : f.plan) {
    EXPECT_TRUE(l.name == "wanted rate" || !l.runs.empty()) << l.name;
  }
}

// An earlier, slower client that had the key to itself is no bound for this cell.
TEST_F(a_study, bounds_a_cell_by_its_own_hand_offs) {
  simulation_.lone_s = 0.003;
  study all = make(usual("p99<50ms"));
  all.find_rate();
  all.sweep();
  ASSERT_EQ(all.found().cells[0].clients, 1U);
  EXPECT_NEAR(all.found().cells[0].bound_per_s.value_or(0), 1 / (hold_s + handoff_s), 1);
}

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

// A run with the arrivals and holds of another one is no independent evidence.
TEST_F(a_study, makes_no_two_runs_alike) {
  study all = make(usual("p99<50ms"));
  all.find_rate();
  all.plan();
  all.sweep();
  auto& seeds = simulation_.seeds;
  EXPECT_THAT(seeds.size(), testing::Gt(10U));
  std::ranges::sort(seeds);
  EXPECT_EQ(std::ranges::adjacent_find(seeds), seeds.end());
}

TEST_F(a_study, is_written_for_people_and_for_programs) {
  study all = make(usual("p99<50ms"));
  all.find_rate();
  all.plan();
  all.sweep();
  const std::string text = to_markdown(all.found());
  EXPECT_THAT(text, AllOf(HasSubstr("# Capacity of memory/lock"), HasSubstr("## Plan"),
                          HasSubstr("## Bounds"), HasSubstr("## Search"), HasSubstr("M/G/1"),
                          HasSubstr("serves its waiters in order")));
  const auto j = to_json(all.found());
  EXPECT_DOUBLE_EQ(j.at("highest_rate_per_s").at("value").get<double>(), all.found().rate->value);
  EXPECT_EQ(j.at("probes").size(), all.found().probes.size());
  EXPECT_FALSE(j.at("plan").empty());
}

TEST_F(a_study, refuses_an_objective_that_a_lone_client_breaks) {
  simulation_.lone_s = 0.06;
  EXPECT_THAT(why_not(usual("p99<50ms")),
              AllOf(HasSubstr("no rate can hold it"), HasSubstr("run-1")));
}

TEST_F(a_study, refuses_a_quantile_for_which_samples_are_too_few) {
  EXPECT_THAT(why_not(usual("p99.999<50ms")),
              AllOf(HasSubstr("too few samples"), HasSubstr("--probe-at-most")));
}

TEST_F(a_study, refuses_what_cannot_be_studied) {
  const auto why = [](const config::job& j, const settings& s) -> std::string {
    try {
      check_study(j, "some", s);
    } catch (const usage_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(why(open_job(), usual("p99<50ms")), "");
  config::job closed = open_job();
  closed.loop = config::loop_kind::closed;
  EXPECT_THAT(why(closed, usual("p99<50ms")), HasSubstr("load.loop is closed"));
  config::job broken = open_job();
  broken.faults["1.do"] = "stall";
  EXPECT_THAT(why(broken, usual("p99<50ms")), HasSubstr("faults"));
  EXPECT_THAT(why(open_job(), usual("p99<5s")), HasSubstr("give up after 5s"));
  EXPECT_THAT(why(open_job(), settings{}), HasSubstr("--slo"));
}

// A run spoiled by the harness is repeated, and is no evidence against the lock.
TEST_F(a_study, makes_spoiled_runs_again) {
  const settings s = usual("p99<50ms");
  int spoiled = 0;
  study all(
      {}, open_job(), s,
      [&](const config::job& j, const std::string& title) {
        observation o = simulation_.run(j, s.objectives);
        if (title.starts_with("probing") && !title.ends_with("once more")) {
          ++spoiled;
          o.valid = false;
          o.worth_repeating = true;
          for (stretch& part : o.against.front().parts) part.late = part.attempts;
        }
        return o;
      },
      [](const findings&) {});
  all.find_rate();
  EXPECT_GT(spoiled, 0);
  EXPECT_GT(all.found().rate->value, 140);
  EXPECT_FALSE(all.found().limited_by_harness);
}

}  // namespace
}  // namespace lockmark::capacity
