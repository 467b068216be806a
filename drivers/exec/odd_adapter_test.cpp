// Programs that break the protocol in every way we could think of: each is refused or ends its run
// in time, with one sentence that names the program, the request and the line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "drivers/exec/exec.hpp"
#include "harness/async/scope.hpp"
#include "harness/time/clock.hpp"

// Freed memory is really returned, so that memory use can be measured.
extern "C" const char* __asan_default_options() {
  return "quarantine_size_mb=0";
}

namespace lockmark::exec {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string program(std::string_view mode) {
  return fmt::format("exec:{} {}", LOCKMARK_ODD_ADAPTER, mode);
}

// The rest of the command may be a secret.
constexpr const char* shown_program = "exec:odd_adapter ***: ";

std::unique_ptr<driver> driver_of(std::string_view mode) {
  const lock_kind any = kinds().front();
  option_values options;
  for (const lock_option& o : any.options) options.emplace(o.name, o.preset);
  return any.make({program(mode), {"r", {"k0"}}, options});
}

struct told {
  std::string sentence;  // of the exception; empty: none
  int granted = 0;
  int doubts = 0;
  duration took{};
};

task<void> take_turns(loop& l, session& s, told& all) {
  for (int n = 0; n < 60 && all.doubts < 3; ++n) {
    const request r{.key = 0, .lease = 30s, .deadline = l.now() + 200ms, .grace = 200ms};
    const auto got = co_await s.acquire(r);
    if (got.in_doubt()) ++all.doubts;
    if (!got.done()) continue;
    ++all.granted;
    const request back{.key = 0, .lease = 30s, .deadline = l.now() + 400ms};
    co_await s.release(back);
  }
}

// Like a run: prepares, opens, takes turns until something throws, closes.
task<void> play(loop& l, driver& d, told& all) {
  std::unique_ptr<session> s;
  try {
    co_await d.prepare(l, l.now() + 5s);
    instance who{.id = "i0"};
    s = co_await d.open(l, std::move(who), l.now() + 5s);
    co_await take_turns(l, *s, all);
  } catch (const no_server& e) {
    all.sentence = e.what();
  }
  if (!s) co_return;
  try {
    co_await s->close();
  } catch (const no_server& e) {
    if (all.sentence.empty()) all.sentence = e.what();
  }
}

told told_of(std::string_view mode) {
  const real_clock clock;
  loop l{clock};
  told all;
  const auto d = driver_of(mode);
  const time_point began = clock.now();
  run_to_end(l, play(l, *d, all));
  all.took = clock.now() - began;
  return all;
}

struct oddity {
  const char* mode;
  const char* says;  // follows the program's name
};
void PrintTo(const oddity& o, std::ostream* out) {
  *out << o.mode;
}
std::string name_of(const testing::TestParamInfo<oddity>& info) {
  return info.param.mode;
}

class at_hello : public testing::TestWithParam<oddity> {};
TEST_P(at_hello, is_refused_with_a_sentence) {
  const told all = told_of(GetParam().mode);
  EXPECT_EQ(all.sentence, std::string(shown_program) + GetParam().says);
  // The program's own 5 s, or the time that one which has answered gets to exit by itself.
  EXPECT_LT(all.took, 8s);
}
INSTANTIATE_TEST_SUITE_P(
    odd, at_hello,
    testing::Values(
        oddity{"silent", "did not answer hello within 5 s"},
        oddity{"garbage_at_hello",
               "wrote a line that is not of the protocol: it is not JSON; the line: "
               "\\x1b[31mWelcome!; the request: hello"},
        oddity{"not_ready", "is not ready; the line: {\"ready\":false}; the request: hello"},
        oddity{"exits_at_hello",
               "ended with exit status 4 after the request hello; it wrote: no license"},
        oddity{"closes_stdout_at_hello", "closed its standard output after the request hello"},
        oddity{"wrong_version",
               "wrote a line that is not of the protocol: its \"protocol\" is 2; expected 1; the "
               "line: {\"protocol\":2,\"ready\":true}; the request: hello"},
        oddity{"failed", "no answer from 10.0.0.1:6379"}),
    name_of);

class in_mid_run : public testing::TestWithParam<oddity> {};
TEST_P(in_mid_run, ends_it_with_a_sentence) {
  const told all = told_of(GetParam().mode);
  EXPECT_THAT(all.sentence, StartsWith(shown_program));
  EXPECT_THAT(all.sentence, HasSubstr(GetParam().says));
  EXPECT_THAT(all.sentence, HasSubstr("{\"op\":\"acquire\",\"id\":11,\"key\":0,\"client\":0,"));
  EXPECT_EQ(all.granted, 5);
  EXPECT_LT(all.sentence.size(), 1000U);
  EXPECT_LT(all.took, 8s);
}
INSTANTIATE_TEST_SUITE_P(
    odd, in_mid_run,
    testing::Values(
        oddity{"exits", "ended with exit status 3 after the request"},
        oddity{"killed", "was killed by signal 9 after the request"},
        oddity{"closes_stdout", "closed its standard output after the request"},
        oddity{"garbage", "it is not JSON; the line: INFO \\x1b[1mlocked\\x09k0; the request: "},
        oddity{"unknown_outcome",
               "its \"outcome\" is \"locked\"; expected granted, refused or doubt; the line: {"},
        oddity{"unknown_reason", "its \"why\" is \"tired\"; expected busy, deadline, not_owner"},
        oddity{"text_for_an_id", "its \"id\" is \"11\"; expected a whole number from 0"},
        oddity{"answers_unasked", "answered a request that it was never sent; the line: {"},
        oddity{"valid_for_ever", "its \"valid_ms\" is 9223372036854775807; expected whole milli"},
        oddity{"wall_clock", "looks like a wall clock; expected nanoseconds of this host's CLOCK"},
        oddity{"microseconds", "looks like microseconds; expected nanoseconds of this host's CLO"},
        oddity{"stamps_out_of_order", "its stamp \"ended\" is "},
        oddity{"no_began", "it has no \"began\"; expected nanoseconds of this host's CLOCK_MONOT"},
        oddity{"ready_twice", "said twice that it is ready; the line: {\"ready\":true}"},
        oddity{"fails_later", "failed; the line: {\"failed\":\"the pool is exhausted\"}"},
        oddity{"endless_line", "wrote a line that is too long, of more than 1 MiB; the line: xxx"}),
    name_of);

// A fault that shows later than at the sixth acquire.
TEST(OddAdapter, AnsweringTwiceIsFound) {
  EXPECT_THAT(told_of("answers_twice").sentence,
              AllOf(StartsWith(shown_program), HasSubstr("answered a request twice; the line: {")));
}

TEST(OddAdapter, NotReadingIsFoundAtTheNextRequest) {
  EXPECT_THAT(told_of("closes_stdin").sentence,
              AllOf(StartsWith(shown_program),
                    HasSubstr("closed its standard input after the request {\"op\":")));
}

TEST(OddAdapter, CallsThatTakeNoTimeAreFound) {
  const told all = told_of("no_time");
  EXPECT_THAT(all.sentence, HasSubstr("says of 20 calls in a row that they took no time"));
  EXPECT_EQ(all.granted, 10);
}

// Silence does not violate the protocol: each call ends in doubt, in time.
TEST(OddAdapter, SilenceIsDoubt) {
  for (const char* mode : {"stops_reading", "never_answers"}) {
    const told all = told_of(mode);
    EXPECT_EQ(all.sentence, "") << mode;
    EXPECT_EQ(all.granted, 5) << mode;
    EXPECT_EQ(all.doubts, 3) << mode;
    EXPECT_LT(all.took, 8s) << mode;
  }
}

TEST(OddAdapter, AGoodOneIsNotBlamed) {
  for (const char* mode : {"good", "growing_tokens"}) {
    const told all = told_of(mode);
    EXPECT_EQ(all.sentence, "") << mode;
    EXPECT_EQ(all.granted, 60) << mode;
  }
}

long most_memory_kb() {
  rusage all{};
  getrusage(RUSAGE_SELF, &all);
  return all.ru_maxrss;
}

// Endless lines, and endlessly many lines: the loop keeps running, in little memory.
TEST(OddAdapter, MemoryAndTimeAreBounded) {
  const long before_kb = most_memory_kb();
  EXPECT_NE(told_of("endless_line").sentence, "");
  const told flood = told_of("flood");
  EXPECT_EQ(flood.sentence, "") << "it answers nothing any more, which is doubt";
  EXPECT_EQ(flood.granted, 5);
  EXPECT_LT(most_memory_kb() - before_kb, 50'000);
}

}  // namespace
}  // namespace lockmark::exec
