// If any driver call throws or hangs in a participant, the run and all participants end, and the
// result contains what was measured.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/participants_fixture.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

// One minute, of which a fraction is needed: a run that fails to end early is noticed.
constexpr const char* a_minute =
    "load: {{instances: 3, clients: 2}}\nparticipants: 3\nkeys: own\nhold: 20ms\nlease: 30ms\n"
    "renew: true\nwait: 200ms\ncommand_timeout: 200ms\nwarmup: 0s\nstop: {{duration: {}}}\n"
    "floor: 0s\noptions: {{breaks_in: {}, breaks_from: {}, breaks_how: {}, breaks_instance: {}}}\n";

struct broken {
  std::string call;
  int from = 1;
  std::string how = "throws";
  std::string instance = "1";
  std::string length = "60s";
};

void PrintTo(const broken& b, std::ostream* out) {
  *out << b.call << ' ' << b.how;
}

apart with(const broken& b) {
  return {.lock = "faulty/lock",
          .job = fmt::format(a_minute, b.length, b.call, b.from, b.how, b.instance),
          .target = "memory:",
          // Time for a busy machine, in the cases where nothing should hang.
          .stuck_after = b.how == "hangs" ? 500ms : 10'000ms};
}

std::string as_words(const testing::TestParamInfo<broken>& info) {
  const broken& b = info.param;
  return fmt::format("{}_{}_{}{}", b.call, b.how, b.from, b.instance == "all" ? "_everywhere" : "");
}

class a_call_in_a_participant : public testing::TestWithParam<broken> {
 protected:
  void TearDown() override {
    EXPECT_THAT(still_there(children_named("lm-participant", getpid()), 5s), IsEmpty());
  }
};

using that_throws = a_call_in_a_participant;
TEST_P(that_throws, ends_the_run_with_its_sentence) {
  const run::result r = run_apart(with(GetParam()));
  EXPECT_EQ(r.how, run::ending::failed);
  EXPECT_THAT(r.why, HasSubstr(GetParam().call + " fails on purpose"));
  EXPECT_LT(r.window_s(), 30);
  EXPECT_EQ(r.violations(), 0u);
}
INSTANTIATE_TEST_SUITE_P(table, that_throws,
                         testing::Values(broken{"acquire"}, broken{"acquire", 10},
                                         broken{"acquire", 1, "throws", "all"}, broken{"renew"},
                                         broken{"renew", 10}, broken{"release"},
                                         broken{"release", 10, "throws", "all"}),
                         as_words);

using that_never_returns = a_call_in_a_participant;
TEST_P(that_never_returns, is_ended_with_its_process) {
  const run::result r = run_apart(with(GetParam()));
  EXPECT_EQ(r.how, run::ending::failed);
  EXPECT_THAT(r.why, testing::AnyOf(HasSubstr("a client's call of faulty/lock did not end"),
                                    HasSubstr("did not close its sessions in time")));
  EXPECT_EQ(r.violations(), 0u);
}
INSTANTIATE_TEST_SUITE_P(table, that_never_returns,
                         testing::Values(broken{"acquire", 10, "hangs", "1", "1s"},
                                         broken{"renew", 1, "hangs", "1", "1s"},
                                         broken{"release", 10, "hangs", "all", "1s"},
                                         broken{"close", 1, "hangs", "1", "1s"}),
                         as_words);

// After the load: all was measured, and the run still reports the error.
TEST(a_participants_session, that_cannot_be_closed_is_told_of) {
  const run::result r = run_apart(with({"close", 1, "throws", "1", "1s"}));
  EXPECT_EQ(r.how, run::ending::failed);
  EXPECT_THAT(r.why, HasSubstr("close fails on purpose"));
  EXPECT_GE(r.window_s(), 1.0);
}

// Before the load: the run throws the sentence.
TEST(a_participants_session, that_cannot_be_opened_ends_the_run) {
  for (const char* how : {"throws", "hangs"}) {
    try {
      run_apart(with({"open", 1, how, "1"}));
      ADD_FAILURE() << how << ": the run did not throw";
    } catch (const std::exception& e) {
      EXPECT_THAT(e.what(), testing::AnyOf(HasSubstr("open fails on purpose"),
                                           HasSubstr("open of faulty/lock did not end")));
    }
    EXPECT_THAT(still_there(children_named("lm-participant", getpid()), 5s), IsEmpty());
  }
}

}  // namespace
}  // namespace lockmark::cli
