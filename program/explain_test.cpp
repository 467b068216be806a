// What a job does, in words.
#include "program/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/jobs.hpp"

namespace lockmark::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string explanation_of(const std::string& name, const std::vector<std::string>& set = {}) {
  return explained(find_job(name, set), idea_of(find_job_text(name).yaml));
}

TEST(explained_job, says_load_keys_attempt_and_time) {
  EXPECT_EQ(
      explanation_of("contended"),
      "contended: What does a lock cost when everybody wants it?\n"
      "load     closed loop: 16 clients (4 instances of 4), and when an attempt has ended the "
      "next begins, exponential(20ms) later\n"
      "keys     all clients want the same key\n"
      "attempt  held for 5ms and released; failed if it is not granted within 1s. Leases, "
      "where a lock has them, are of 30s\n"
      "time     500ms without a lock, to see the harness alone, then 1s of warm-up, then a "
      "measurement until there are 1000 samples and 5s, of 15s at most. In all 6.5s to "
      "16.5s, besides the start of servers and what is under way at the end\n");
}

TEST(explained_job, says_what_is_set) {
  EXPECT_THAT(
      explanation_of("contended", {"lock=redis/lua", "load.loop=open", "load.think=0s",
                                   "load.rate=100/s", "keys=own", "hold=0s", "renew=true",
                                   "floor=0s", "warmup=0s", "stop.samples=0", "stop.duration=2s"}),
      AllOf(HasSubstr("\nlock     redis/lua\n"), HasSubstr("at a constant rate of 100/s"),
            HasSubstr("a key of its own"), HasSubstr("released as soon as it is granted"),
            HasSubstr("of 30s, and renewed\n"),
            HasSubstr("\ntime     a measurement of 2s. In all 2s,")));
}

TEST(explained_job, says_the_faults) {
  EXPECT_THAT(explanation_of("faults/stale_release"),
              HasSubstr("\nfault    pause holder at 500ms, for 3s\n"));
  EXPECT_THAT(explanation_of("contended"), Not(HasSubstr("fault ")));
}

// Each begins with its purpose, and can be explained.
TEST(explained_job, is_any_that_is_shipped) {
  for (const auto& [name, yaml] : workloads::shipped_jobs()) {
    const std::string text = explanation_of(name, {"stop.at_most=1h"});
    EXPECT_THAT(text, AllOf(HasSubstr("\nload     "), HasSubstr(". In all "))) << name;
    EXPECT_FALSE(idea_of(std::string(yaml)).empty()) << name;
  }
}

}  // namespace
}  // namespace lockmark::cli
