// Whichever driver call throws or never returns, the run ends: every session closes, the server is
// wiped, and the measurements so far are a result. Under simulated time; participants_test does the
// same with real processes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drivers/faulty/faulty.hpp"
#include "harness/run/run_job.hpp"
#include "harness/run/test_passing.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct tally {
  int opened = 0;
  int closing = 0;  // close() was called
  int wipes = 0;
};

class counted_session final : public passing_session {
 public:
  counted_session(std::unique_ptr<session> inside, tally& counts)
      : passing_session(std::move(inside)), counts_(counts) {}
  task<void> close() override {
    ++counts_.closing;
    return passing_session::close();
  }

 private:
  tally& counts_;
};

class counted_driver final : public passing_driver {
 public:
  counted_driver(std::unique_ptr<driver> inside, tally& counts)
      : passing_driver(std::move(inside)), counts_(counts) {}
  task<void> wipe(loop& l, time_point by) override {
    ++counts_.wipes;
    return passing_driver::wipe(l, by);
  }
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point by) override {
    auto opened = co_await passing_driver::open(l, std::move(who), by);
    ++counts_.opened;
    co_return std::make_unique<counted_session>(std::move(opened), counts_);
  }

 private:
  tally& counts_;
};

struct broken {
  std::string call;
  std::string from = "1";
  std::string instance = "all";
  std::string how = "throws";
};

struct broken_run {
  std::optional<result> got;  // empty: the run threw
  std::string sentence;       // its exception, or why it ended
  std::vector<std::string> stuck;
  tally counts;
  duration lasted{};
};

lock_kind faulty_lock() {
  return faulty::kinds().front();
}

// Four instances of two clients with a key each, holding long enough to renew.
constexpr const char* steady_load = R"(
load: {loop: closed, instances: 4, clients: 2}
keys: own
hold: 40ms
lease: 60ms
renew: true
wait: 1s
command_timeout: 500ms
warmup: 0s
stop: {duration: 60s}
)";

broken_run run_on(const broken& what) {
  broken_run e;
  const lock_kind kind = faulty_lock();
  config::job job = config::parse_job(steady_load, "test.yaml");
  option_values options;
  for (const lock_option& o : kind.options) options[std::string(o.name)] = o.preset;
  options["delay"] = "1ms";
  options["breaks_in"] = what.call;
  options["breaks_from"] = what.from;
  options["breaks_how"] = what.how;
  options["breaks_instance"] = what.instance;
  names n{"test", {}};
  for (std::uint64_t k = 0; k < job.clients_in_all(); ++k) n.keys.push_back(fmt::format("k{}", k));
  counted_driver behind(kind.make({"memory:", n, options}), e.counts);
  const workload_kind workload = workloads::mutex();
  simulated_clock clock;
  setup s{.job = job,
          .lock = kind,
          .behind = behind,
          .workload = workload,
          .run_id = "test",
          .target = "memory:",
          .topology = "memory"};
  const time_point began = clock.now();
  s.on_stuck = [&](result& so_far, const std::string& sentence) {
    e.stuck.push_back(sentence);
    e.got = so_far;
    e.lasted = clock.now() - began;
  };
  try {
    result r = run_job_simulated(s, clock);
    if (!e.got) e.got = std::move(r);
    e.sentence = e.got->why;
  } catch (const std::exception& error) {
    e.got.reset();
    e.sentence = error.what();
  }
  if (e.stuck.empty()) e.lasted = clock.now() - began;
  return e;
}

void PrintTo(const broken& b, std::ostream* out) {
  *out << b.call << ' ' << b.how;
}

std::string as_words(const testing::TestParamInfo<broken>& info) {
  const broken& b = info.param;
  const bool one = b.instance != "all";
  return fmt::format("{}_{}_{}{}", b.call, b.how, b.from, one ? "_in_one_instance" : "");
}

void expect_left_nothing(const broken_run& e) {
  EXPECT_EQ(e.counts.closing, e.counts.opened);
  EXPECT_EQ(e.counts.wipes, 1);
}

// Before the load: there is nothing to report, and the run throws the sentence.
class a_call_before_the_load : public testing::TestWithParam<broken> {};

TEST_P(a_call_before_the_load, that_throws_is_what_the_run_throws) {
  const broken_run e = run_on(GetParam());
  EXPECT_FALSE(e.got.has_value());
  EXPECT_THAT(e.sentence, HasSubstr(GetParam().call + " fails on purpose"));
  EXPECT_LT(e.lasted, 3s);
  expect_left_nothing(e);
}

INSTANTIATE_TEST_SUITE_P(table, a_call_before_the_load,
                         testing::Values(broken{"prepare"}, broken{"counters"}, broken{"open"},
                                         broken{"open", "3"}, broken{"open", "1", "2"}),
                         as_words);

// Under load: the run ends at once, for all clients, and keeps its measurements.
class a_call_under_load : public testing::TestWithParam<broken> {};

TEST_P(a_call_under_load, that_throws_ends_the_run) {
  const broken_run e = run_on(GetParam());
  ASSERT_TRUE(e.got.has_value()) << e.sentence;
  EXPECT_EQ(e.got->how, ending::failed);
  EXPECT_THAT(e.sentence, HasSubstr(GetParam().call + " fails on purpose"));
  EXPECT_LT(e.lasted, 3s);
  EXPECT_EQ(e.got->violations(), 0U);
  EXPECT_THAT(e.stuck, testing::IsEmpty());
  expect_left_nothing(e);
}

INSTANTIATE_TEST_SUITE_P(table, a_call_under_load,
                         testing::Values(broken{"acquire"}, broken{"acquire", "10"},
                                         broken{"acquire", "1", "2"}, broken{"acquire", "10", "2"},
                                         broken{"renew"}, broken{"renew", "10"},
                                         broken{"renew", "1", "2"}, broken{"release"},
                                         broken{"release", "10"}, broken{"release", "1", "2"}),
                         as_words);

// Measurements up to the failure count.
TEST(a_run_that_fails, keeps_what_it_has_measured) {
  const broken_run e = run_on({"acquire", "200"});
  ASSERT_TRUE(e.got.has_value());
  EXPECT_EQ(e.got->grants_in_all, 199U);
  EXPECT_GT(e.got->attempts(), 190U);
  EXPECT_GT(e.got->window_s(), 0.9);
}

// After the load: everything was measured, and the run still reports the failure.
TEST(a_call_after_the_load, that_throws_spoils_no_other) {
  for (const broken& what : {broken{"close"}, broken{"close", "3"}, broken{"close", "1", "2"}}) {
    const broken_run e = run_on(what);
    ASSERT_TRUE(e.got.has_value()) << e.sentence;
    EXPECT_EQ(e.got->how, ending::failed);
    EXPECT_THAT(e.sentence, HasSubstr("close fails on purpose"));
    EXPECT_GT(e.got->window_s(), 59);
    expect_left_nothing(e);
  }
  const broken_run counted = run_on({"counters", "2"});
  ASSERT_TRUE(counted.got.has_value());
  EXPECT_EQ(counted.got->how, ending::server_lost);
  EXPECT_THAT(counted.sentence, HasSubstr("after the load, the faulty lock's counters"));
  expect_left_nothing(counted);
}

TEST(a_wipe, that_throws_is_told_beside_a_result_that_stands) {
  const broken_run e = run_on({"wipe"});
  ASSERT_TRUE(e.got.has_value()) << e.sentence;
  EXPECT_EQ(e.got->how, ending::complete);
  EXPECT_THAT(e.got->preflight, testing::Contains(HasSubstr("could not be removed: the faulty")));
  expect_left_nothing(e);
}

// The tenth call of something called once never happens.
TEST(a_call_that_breaks_later, breaks_nothing_where_it_never_comes) {
  for (const char* call : {"prepare", "wipe", "counters", "open", "close"}) {
    const broken_run e = run_on({call, "10"});
    ASSERT_TRUE(e.got.has_value()) << call << ": " << e.sentence;
    EXPECT_EQ(e.got->how, ending::complete) << call;
    expect_left_nothing(e);
  }
}

class a_call_that_never_returns : public testing::TestWithParam<broken> {};

TEST_P(a_call_that_never_returns, is_left_behind_and_told_of) {
  const broken& what = GetParam();
  const broken_run e = run_on(what);
  ASSERT_EQ(e.stuck.size(), 1U);
  EXPECT_THAT(e.stuck[0], HasSubstr("of faulty/lock did not end within 10000 ms"));
  const bool at_the_end = what.call == "wipe" || what.call == "close" || what.from == "2";
  EXPECT_LT(e.lasted, at_the_end ? 100s : 40s);
  ASSERT_TRUE(e.got || !e.sentence.empty());
  EXPECT_EQ(e.counts.wipes, 1);
}

INSTANTIATE_TEST_SUITE_P(
    table, a_call_that_never_returns,
    testing::Values(broken{"prepare", "1", "all", "hangs"}, broken{"open", "1", "all", "hangs"},
                    broken{"open", "3", "all", "hangs"}, broken{"counters", "1", "all", "hangs"},
                    broken{"acquire", "1", "all", "hangs"}, broken{"acquire", "10", "all", "hangs"},
                    broken{"acquire", "1", "2", "hangs"}, broken{"renew", "1", "all", "hangs"},
                    broken{"renew", "10", "2", "hangs"}, broken{"release", "1", "all", "hangs"},
                    broken{"release", "10", "2", "hangs"}, broken{"close", "1", "2", "hangs"},
                    broken{"counters", "2", "all", "hangs"}, broken{"wipe", "1", "all", "hangs"}),
    as_words);

}  // namespace
}  // namespace lockmark::run
