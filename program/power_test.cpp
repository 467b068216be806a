// How much of what is wrong would a run see? Every lock, let through wrongly at a known rate, in
// every shipped job: what the verdict claims of its power is what it has.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/conformance.hpp"
#include "drivers/faulty/faulty.hpp"
#include "program/execute.hpp"
#include "program/jobs.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t every = 10;  // request that had to be kept out is let in

class record {
 public:
  void add(const faulty::wrong_grant& g) {
    const std::lock_guard guard(mutex_);
    all_.push_back(g);
  }
  std::vector<faulty::wrong_grant> all() const { return all_; }  // once the run has ended

 private:
  std::mutex mutex_;
  std::vector<faulty::wrong_grant> all_;
};

struct played {
  run::result result;
  std::vector<faulty::wrong_grant> injected;
};

// Nothing: the job is not for this lock.
std::optional<played> play(const catalogue& known, const std::string& target, const lock_kind& base,
                           const std::string& name) {
  config::job job = find_job(name, {fmt::format("lock={}", base.name), "warmup=50ms", "floor=0s",
                                    "stop.samples=0", "stop.owner_changes=0", "stop.duration=300ms",
                                    "stop.at_most=300ms", "participants=0",
                                    // An answer that is late on a busy machine would leave a doubt,
                                    // for which a lost update is forgiven.
                                    "command_timeout=30s"})
                        .job;
  if (!job.faults.empty()) return std::nullopt;
  // Where no client meets another, nothing can be let through wrongly.
  if (job.keys.kind == config::key_choice::shape::own || job.clients_in_all() == 1) return {};
  if (job.workload == "auto") job.workload = known.natural_workload(base);
  const workload_kind& workload = known.workload(job.workload);
  try {
    const lock_kind& lock = known.lock_for(job);
    const auto options = lock_options(lock, job);
    const std::uint32_t holders = lock.holders == nullptr ? 1 : lock.holders(options);
    run::check_fit(job, lock, workload);
    if (holders != 1) job.guard = config::guard_kind::none;
    static int runs = 0;
    const std::string id = fmt::format("power{}x{}", getpid(), ++runs);
    record injected;
    faulty::faults wrong;
    wrong.two_holders = wrong.lost_updates = every;
    wrong.on_wrong_grant = [&](const faulty::wrong_grant& g) { injected.add(g); };
    const auto behind = faulty::wrap(lock.make({target, names_of(job, id), options}),
                                     job.keys.count(job.clients_in_all()), wrong, holders);
    run::setup s{.job = job,
                 .lock = lock,
                 .behind = *behind,
                 .workload = workload,
                 .holders = holders,
                 .run_id = id,
                 .target = "the test's",
                 .topology = "the test's"};
    run::result result = run::run_job(s, real_clock{});
    return played{std::move(result), injected.all()};
  } catch (const usage_error&) {
    return std::nullopt;
  }
}

// The client's hold was found to overlap another one. The grant is stamped a moment later than it
// was made.
bool is_seen(const played& p, const faulty::wrong_grant& g) {
  const auto client = static_cast<std::uint32_t>(g.instance * p.result.job.clients + g.client);
  const std::int64_t from_ns = to_ns(g.at);
  return std::ranges::any_of(p.result.found.overlaps, [&](const check::overlap& o) {
    // As the second it began with its grant; as the first it lasted until the other came.
    if (o.second_client == client) return o.at_ns >= from_ns && o.at_ns < from_ns + 20'000'000;
    return o.first_client == client && o.at_ns >= from_ns && o.at_ns < from_ns + 1'000'000'000;
  });
}

std::uint64_t seen(const played& p) {
  if (p.result.lock_has.has(feature::optimistic)) return p.result.found.lost_updates;
  return static_cast<std::uint64_t>(std::ranges::count_if(
      p.injected, [&](const auto& g) { return g.was_taken && is_seen(p, g); }));
}

// "No violation in n chances" must not be said of chances that there were not, and at each of them
// a wrong grant must show.
void judge(const played& p, const std::string& job) {
  const auto wrong = static_cast<std::uint64_t>(
      std::ranges::count_if(p.injected, &faulty::wrong_grant::was_taken));
  const std::uint64_t injected = p.injected.size(), found = seen(p);
  SCOPED_TRACE(fmt::format("{}: {} injected, {} of {} wrong ones seen, {} chances, {} violations",
                           job, injected, found, wrong, p.result.found.chances,
                           p.result.violations()));
  // The server's own counts, asked for after the load, are not judged here.
  if (!p.result.why.starts_with("after the load, ")) {
    EXPECT_EQ(p.result.how, run::ending::complete) << p.result.why;
  }
  if (p.result.found.overlaps.size() >= 10'000) return;  // no more are kept
  const auto chances = static_cast<double>(p.result.found.chances);
  EXPECT_LE(chances, 1.1 * static_cast<double>((injected + 1) * every) + 5);
  if (p.result.untested() || wrong < 5) return;
  EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(wrong) - 1);
  EXPECT_GT(p.result.violations(), 0U);
}

class lock_case final : public testing::Test {
 public:
  lock_case(const catalogue& known, const lock_kind& lock, std::string target)
      : known_(known), lock_(lock), target_(std::move(target)) {}

  void TestBody() override {
    bool tested = false;
    for (const auto& [name, text] : workloads::shipped_jobs()) {
      if (name.find('/') != name.npos) continue;
      const auto p = play_in_time(name);
      if (!p) continue;
      judge(*p, name);
      tested = tested || !p->result.untested();
    }
    const bool lets_all_in =
        lock_.holders != nullptr && lock_.holders(lock_options(lock_, {})) == 0;
    EXPECT_NE(tested, lets_all_in);
  }

 private:
  // A busy machine may not connect a hundred clients in time, which is not what is tested here.
  std::optional<played> play_in_time(const std::string& name) {
    for (int left = 2;; --left) {
      try {
        return play(known_, target_, lock_, name);
      } catch (const no_server&) {
        if (left == 0) throw;
      }
    }
  }

  const catalogue& known_;
  const lock_kind& lock_;
  const std::string target_;
};

// A lock on servers of this form; Redlock and its kind need their five.
void add(const catalogue& known, std::string_view form, const std::string& target) {
  for (const lock_kind& lock : known.locks()) {
    if (!runs_on(lock, form) || lock.name.starts_with("faulty/")) continue;
    if (lock.name.starts_with("exec/")) continue;  // the same protocols, in other processes
    std::string name(lock.name);
    std::ranges::replace(name, '/', '_');
    testing::RegisterTest("power", fmt::format("of_{}_on_{}", name, form).c_str(), nullptr, nullptr,
                          __FILE__, __LINE__, [&known, &lock, target]() -> testing::Test* {
                            return new lock_case(known, lock, target);
                          });
  }
}

}  // namespace
}  // namespace lockmark::cli

int main(int argc, char** argv) {
  using namespace lockmark;
  const auto redis = local::cluster::start("redis");
  const auto independent = local::cluster::start("redis-independent");
  const auto zookeeper = local::cluster::start("zookeeper");
  const auto etcd = local::cluster::start("etcd");
  const auto mysql = local::cluster::start("mysql");
  const auto postgres = local::cluster::start("postgres");
  const cli::catalogue known;
  return conformance::run_tests(
      argc, argv,
      [&] {
        cli::add(known, "redis", redis.target());
        cli::add(known, "redis-independent", independent.target());
        cli::add(known, "zookeeper", zookeeper.target());
        cli::add(known, "etcd", etcd.target());
        cli::add(known, "mysql", mysql.target());
        cli::add(known, "postgres", postgres.target());
        cli::add(known, "memory", "memory:");
      },
      2);
}
