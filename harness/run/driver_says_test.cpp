// A driver's reports about itself and its calls, and their use by the harness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drivers/memory/memory.hpp"
#include "harness/run/run_job.hpp"
#include "harness/run/test_passing.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

// A lock client in a process of its own: each grant has passed a pipe.
class piped_session final : public passing_session {
 public:
  piped_session(std::unique_ptr<session> inside, loop& l, bool silent)
      : passing_session(std::move(inside)), loop_(l), silent_(silent) {}

  task<outcome<grant>> acquire(request r) override {
    co_await loop_.sleep_for(3ms);
    const auto answer = co_await passing_session::acquire(r);
    if (!answer.done()) co_return answer;
    grant g = answer.value();
    g.pipe = silent_ ? 0ms : 2ms;
    g.pipe_unknown = silent_;
    co_return g;
  }

 private:
  loop& loop_;
  bool silent_;
};

class talking_driver final : public passing_driver {
 public:
  talking_driver(std::unique_ptr<driver> inside, std::vector<finding> found, bool silent)
      : passing_driver(std::move(inside)), found_(std::move(found)), silent_(silent) {}

  task<std::vector<finding>> preflight(loop&, demand d, time_point) override {
    asked_ = d;
    co_return found_;
  }
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point by) override {
    ++opened_;
    auto inner = co_await passing_driver::open(l, who, by);
    std::unique_ptr<session> made = std::make_unique<piped_session>(std::move(inner), l, silent_);
    co_return made;
  }

  demand asked_;
  int opened_ = 0;

 private:
  std::vector<finding> found_;
  bool silent_;
};

struct spoken {
  result r;
  demand asked;
  std::vector<std::string> heard;
};

// `silent`: the client does not say how long the pipe took.
spoken run_and_listen(std::vector<finding> found, bool silent = false) {
  const lock_kind kind = memory::kinds().front();
  const config::job job = config::parse_job(
      "load: {loop: closed, instances: 2, clients: 1}\nkeys: own\nhold: 0s\nwait: 1s\n"
      "warmup: 100ms\nstop: {duration: 2s}\n",
      "test.yaml");
  talking_driver behind(kind.make({"memory:", {"test", {"k0", "k1"}}, {}}), std::move(found),
                        silent);
  const workload_kind workload = workloads::mutex();
  spoken s;
  setup how{.job = job,
            .lock = kind,
            .behind = behind,
            .workload = workload,
            .run_id = "test",
            .target = "memory:",
            .topology = "memory"};
  how.on_finding = [&](const std::string& sentence) { s.heard.push_back(sentence); };
  simulated_clock clock;
  s.r = run_job_simulated(how, clock);
  s.asked = behind.asked_;
  return s;
}

TEST(pipe, is_taken_out_of_the_latencies_and_reported) {
  const spoken s = run_and_listen({});
  const auto p50 = [&](series which) {
    return static_cast<double>(s.r.totals[which].value_at_quantile(0.5));
  };
  EXPECT_NEAR(p50(series::pipe), 2e6, 1e4);
  EXPECT_NEAR(p50(series::service), 1e6, 1e4);
  EXPECT_NEAR(p50(series::response), 1e6, 1e4);
}

// A client that stamps late is known by its pipe, and one that stamps nothing by the lack of it.
TEST(pipe, is_judged_by_the_run) {
  const spoken late = run_and_listen({});
  EXPECT_FALSE(late.r.verdict.valid) << "2 ms for the pipe beside a response of 1 ms";
  EXPECT_THAT(late.r.verdict.reasons, testing::Contains(testing::Field(&message::id, "long_pipe")));
  const spoken silent = run_and_listen({}, true);
  EXPECT_TRUE(silent.r.verdict.valid && silent.r.verdict.bound);
  EXPECT_THAT(silent.r.verdict.reasons,
              testing::Contains(testing::Field(&message::id, "pipe_unknown")));
  EXPECT_NEAR(static_cast<double>(silent.r.totals[series::response].value_at_quantile(0.5)), 3e6,
              1e4);
}

TEST(preflight, is_told_the_load_and_its_sentences_stay_with_the_result) {
  const spoken s = run_and_listen({{false, "the server evicts keys"}});
  EXPECT_EQ(s.asked.instances, 2u);
  EXPECT_EQ(s.asked.clients_in_all(), 2u);
  EXPECT_THAT(s.heard, testing::ElementsAre("the server evicts keys"));
  EXPECT_EQ(s.r.preflight, s.heard);
  EXPECT_EQ(s.r.how, ending::complete);
}

TEST(preflight, a_fatal_finding_ends_the_run_before_its_load) {
  try {
    run_and_listen({{false, "odd"}, {true, "a replica cannot be written to"}});
    FAIL() << "the run was made";
  } catch (const usage_error& e) {
    EXPECT_STREQ(e.what(), "a replica cannot be written to");
  }
}

TEST(gap, the_longest_time_without_a_grant_is_found) {
  const spoken s = run_and_listen({});
  EXPECT_NEAR(static_cast<double>(s.r.found.longest_gap_ns), 3e6, 1e5);
  EXPECT_GE(s.r.found.gap_began_ns, s.r.window_start_ns);
}

}  // namespace
}  // namespace lockmark::run
