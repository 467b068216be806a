// Runs with lock clients that misbehave: the run always ends in time, with a sentence that names
// the program, and never with an unfounded verdict.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string program_of(std::string_view mode) {
  return fmt::format("exec:{} {}", LOCKMARK_ODD_ADAPTER, mode);
}

// One minute, of which a fraction is needed: a run that fails to end early is noticed.
constexpr const char* a_minute =
    "lock: exec/lock\nload: {instances: 2, clients: 2}\nkeys: own\nhold: 1ms\nwait: 200ms\n"
    "command_timeout: 200ms\nwarmup: 0s\nfloor: 0s\nstop: {duration: 60s}\n";
constexpr const char* a_moment =
    "lock: exec/lock\nload: {instances: 2, clients: 2}\nkeys: own\nhold: 1ms\nwait: 200ms\n"
    "command_timeout: 200ms\nwarmup: 0s\nfloor: 0s\nstop: {duration: 1s}\n";

class odd_clients : public testing::Test {
 protected:
  ended run_with(std::string_view mode, const std::string& job, duration limit = 30s) {
    std::ofstream(dir_ / "job.yaml") << job;
    return run(dir_.path(),
               {"run", (dir_ / "job.yaml").string(), "--quiet", "--on", program_of(mode), "--out",
                (dir_ / "runs").string()},
               limit);
  }
  nlohmann::json result() { return read_json(only_folder(dir_ / "runs") / "run.json"); }

  scratch dir_;
};

// Only the program of its command line is shown: the rest may contain a password.
constexpr const char* shown_program = "exec:odd_adapter ***";

struct odd_end {
  const char* mode;
  const char* says;
};

// Nothing was measured, so there is no run folder.
TEST_F(odd_clients, at_hello_refuse_the_run) {
  for (const odd_end& e :
       {odd_end{"silent", "did not answer hello within 5 s"},
        odd_end{"garbage_at_hello", "it is not JSON; the line: \\x1b[31mWelcome!; the request: he"},
        odd_end{"not_ready", "is not ready; the line: {\"ready\":false}; the request: hello"},
        odd_end{"exits_at_hello", "ended with exit status 4 after the request hello; it wrote: no"},
        odd_end{"closes_stdout_at_hello", "closed its standard output after the request hello"},
        odd_end{"wrong_version", "its \"protocol\" is 2; expected 1"}}) {
    const ended all = run_with(e.mode, a_minute, 9s);  // one wait for hello, not two
    EXPECT_EQ(all.status, 2) << e.mode;
    EXPECT_THAT(all.err, AllOf(HasSubstr(shown_program), HasSubstr(e.says)));
    EXPECT_THAT(all.out, IsEmpty()) << e.mode;
    EXPECT_THAT(files_with(dir_ / "runs", "run"), IsEmpty()) << e.mode;
  }
}

constexpr odd_end in_mid_run[] = {
    {"exits", "ended with exit status 3 after the request {\"op\":\""},
    {"killed", "was killed by signal 9 after the request {\"op\":\""},
    {"garbage", "it is not JSON; the line: INFO \\x1b[1mlocked\\x09k0; the request: {\"op\":\""},
    {"unknown_outcome", "its \"outcome\" is \"locked\"; expected granted, refused or doubt"},
    {"unknown_reason", "its \"why\" is \"tired\"; expected busy, deadline, not_owner or unav"},
    {"text_for_an_id", "expected a whole number from 0"},
    {"closes_stdout", "closed its standard output after the request {\"op\":\""},
    {"closes_stdin", "closed its standard input after the request {\"op\":\""},
    {"answers_twice", "answered a request twice; the line: {"},
    {"answers_unasked", "answered a request that it was never sent; the line: {"},
    {"wall_clock", "looks like a wall clock; expected nanoseconds of this host's CLOCK_MONOTONIC"},
    {"microseconds",
     "looks like microseconds; expected nanoseconds of this host's CLOCK_MONOTONIC"},
    {"no_time", "says of 20 calls in a row that they took no time"},
    {"valid_for_ever", "its \"valid_ms\" is 9223372036854775807; expected whole milliseconds"},
    {"endless_line", "wrote a line that is too long, of more than 1 MiB; the line: xxx"},
};

void expect_end(const ended& all, const odd_end& e) {
  EXPECT_EQ(all.status, 2) << e.mode << '\n' << all.out << all.err;
  EXPECT_THAT(all.err, AllOf(HasSubstr(shown_program), HasSubstr(e.says)));
  EXPECT_THAT(all.out, Not(HasSubstr("held:"))) << e.mode;
  EXPECT_THAT(all.out, HasSubstr("INCOMPLETE")) << e.mode;
}

TEST_F(odd_clients, in_mid_run_end_the_run) {
  for (const odd_end& e : in_mid_run) {
    expect_end(run_with(e.mode, a_minute), e);
    EXPECT_EQ(result()["run"]["status"], "failed") << e.mode;
    std::filesystem::remove_all(dir_ / "runs");
  }
}

TEST_F(odd_clients, in_participants_end_the_run) {
  for (const odd_end& e : in_mid_run) {
    expect_end(run_with(e.mode, std::string(a_minute) + "participants: 2\n"), e);
    EXPECT_EQ(result()["run"]["status"], "failed") << e.mode;
    std::filesystem::remove_all(dir_ / "runs");
  }
}

// Silence breaks no rule and proves nothing: a run shorter than give_up_after has tested nothing;
// in a longer one, the server is lost.
TEST_F(odd_clients, that_never_answer_prove_nothing) {
  for (const char* apart : {"", "participants: 2\n"}) {
    const ended all = run_with("answers_nothing", std::string(a_moment) + apart);
    EXPECT_EQ(all.status, 3) << all.out << all.err;
    EXPECT_THAT(all.out,
                AllOf(HasSubstr("verdict    not tested: nothing was measured: not one of "),
                      HasSubstr("figures    INVALID"), Not(HasSubstr("verdict    held"))));
    EXPECT_TRUE(result()["verdict"]["held"].is_null());
    EXPECT_EQ(result()["verdict"]["valid"], false);
    EXPECT_LE(result()["handoff"]["idle_while_wanted_share"], 1.0);
    std::filesystem::remove_all(dir_ / "runs");
  }
}

TEST_F(odd_clients, that_fall_silent_lose_their_server) {
  for (const char* mode : {"never_answers", "stops_reading"}) {
    const ended all = run_with(mode, std::string(a_minute) + "give_up_after: 1s\n");
    EXPECT_EQ(all.status, 2) << all.out << all.err;
    EXPECT_THAT(all.err, HasSubstr(shown_program)) << mode;
    EXPECT_EQ(result()["run"]["status"], "server_lost") << mode;
    std::filesystem::remove_all(dir_ / "runs");
  }
}

TEST_F(odd_clients, that_are_not_odd_hold) {
  const ended all = run_with("growing_tokens", std::string(a_moment) + "renew: true\n");
  EXPECT_THAT(all.status, AnyOf(0, 3)) << all.out << all.err;  // 3: this machine stalled
  EXPECT_THAT(all.out, HasSubstr("verdict    not tested: each client had a key of its own"));
  EXPECT_EQ(result()["verdict"]["violations"], 0);
  EXPECT_GT(result()["counts"]["granted"], 100);
}

// Sixteen clients want 2 ms of one thread for every call, and so wait 32 ms.
constexpr const char* a_crowd =
    "lock: exec/lock\nload: {instances: 1, clients: 16}\nkeys: own\nhold: 0s\nwait: 5s\n"
    "warmup: 100ms\nfloor: 0s\nstop: {duration: 2s}\n";

double p50_ms(const nlohmann::json& distribution) {
  return distribution["p50_ns"].get<double>() / 1e6;
}
double response_p50_ms(const nlohmann::json& run) {
  return run["quantiles"]["response"]["quantiles"][0]["value_ns"].get<double>() / 1e6;
}

// What waits for the program's only thread is a caller's wait, and no pipe.
TEST_F(odd_clients, that_queue_inside_are_as_slow_as_they_are) {
  const ended all = run_with("one_worker", a_crowd);
  EXPECT_THAT(all.status, AnyOf(0, 3)) << all.out << all.err;  // 3: this machine stalled
  EXPECT_GT(response_p50_ms(result()), 16) << "eight times a call's work, which is what it said";
  EXPECT_LT(p50_ms(result()["durations"]["pipe"]), 8) << all.out;
  if (all.status == 0) {
    EXPECT_THAT(all.out, Not(HasSubstr("of a response, then")));
  }
}

// What the program has not read is in the pipe, as far as anybody can see: no figure is left.
TEST_F(odd_clients, that_read_late_leave_an_estimate) {
  const ended all = run_with("one_by_one", a_crowd);
  EXPECT_EQ(all.status, 3) << all.out << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("figures    INVALID"), HasSubstr(" ms for the pipe at p50 "),
                             HasSubstr("an estimate, because requests that the client is late")));
  EXPECT_GT(p50_ms(result()["durations"]["pipe"]), 16);
}

// Nothing is taken out, so that the times are too long and not too short.
TEST_F(odd_clients, that_stamp_nothing_give_bounds) {
  const ended all = run_with("no_stamps", a_crowd);
  EXPECT_THAT(all.status, AnyOf(0, 3)) << all.out << all.err;  // 3: this machine stalled
  EXPECT_THAT(
      all.out,
      AllOf(HasSubstr(all.status == 0 ? "figures    bounds" : "figures    INVALID"),
            HasSubstr("the client does not stamp its answers"), Not(HasSubstr("taken out"))));
  EXPECT_EQ(result()["verdict"]["bound"], ">=");
  EXPECT_GT(response_p50_ms(result()), 16);
}

// As with every other lock, a token that is not above the last one is a proof.
TEST_F(odd_clients, whose_tokens_fall_are_no_locks) {
  const ended all = run_with("falling_tokens", a_moment);
  EXPECT_EQ(all.status, 1) << all.out << all.err;
  EXPECT_THAT(all.out, HasSubstr("stale tokens"));
}

// Only the program can announce that a lease can be renewed.
TEST_F(odd_clients, that_do_not_say_they_renew_are_not_asked_to) {
  std::string job = a_minute;
  job.replace(job.find("hold: 1ms"), 9, "hold: 50ms\nlease: 30ms\nrenew: true");
  const ended all = run_with("without_renewal", job);
  EXPECT_EQ(all.status, 2) << all.out << all.err;
  EXPECT_THAT(all.err, AllOf(HasSubstr(shown_program), HasSubstr("renewable")));
}

}  // namespace
}  // namespace lockmark::cli
