#include <gtest/gtest.h>
#include <sys/resource.h>

#include <limits>

#include "harness/base/process.hpp"
#include "harness/run/run_job.hpp"

namespace lockmark::run {
namespace {

// Nearly every shell has a soft limit of 1,024, and a far higher hard limit.
TEST(descriptors, are_as_many_as_may_be) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 200;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(descriptor_limit(), 200U);
  raise_descriptor_limit();
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, before.rlim_max);
  EXPECT_EQ(now.rlim_max, before.rlim_max);
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(descriptors, suffice_for_proxies_or_not) {
  EXPECT_FALSE(judge_proxies(0, 1024));
  EXPECT_FALSE(judge_proxies(480, 1024));
  EXPECT_FALSE(judge_proxies(1'000'000, std::numeric_limits<std::uint64_t>::max()));
  EXPECT_FALSE(judge_proxies(2016, 4096));
  const auto few = judge_proxies(2017, 4096);
  ASSERT_TRUE(few);
  EXPECT_TRUE(few->fatal);
  EXPECT_NE(few->sentence.find("4098 file descriptors, two for each of 2017 connections"),
            std::string::npos)
      << few->sentence;
}

}  // namespace
}  // namespace lockmark::run
