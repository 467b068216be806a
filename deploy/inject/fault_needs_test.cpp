#include "deploy/inject/fault_needs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace lockmark::inject {
namespace {

fault_needs needs_of_cut(const std::string& who, const std::string& what = "cut") {
  const std::map<std::string, std::string> keys{
      {"1.do", what}, {"1.who", who}, {"1.at", "0s"}, {"1.for", "1s"}};
  return needs_of(faults::read_faults(keys));
}

// Of servers that `lockmark up` runs, only those of the URL could be delayed.
TEST(fault_needs, of_a_longer_round_trip) {
  config::job job = config::default_job();
  EXPECT_FALSE(needs_of(job).proxies || needs_of(job).own_servers);
  job.rtt = std::chrono::milliseconds{1};
  EXPECT_TRUE(needs_of(job).proxies && needs_of(job).own_servers);
}

// Cutting off servers may need a partition; cutting off clients, or killing, does not.
TEST(fault_needs, has_proxies_between_servers_for_their_links_only) {
  for (const char* who : {"minority", "majority", "leader", "server 1", "servers"}) {
    EXPECT_TRUE(needs_of_cut(who).partition) << who;
    EXPECT_TRUE(needs_of_cut(who).proxies) << who;
    EXPECT_FALSE(needs_of_cut(who).links) << who;
  }
  for (const char* who : {"holder", "participant 1", "replication"}) {
    EXPECT_FALSE(needs_of_cut(who).partition) << who;
  }
  EXPECT_FALSE(needs_of_cut("leader", "kill").partition);
  EXPECT_FALSE(needs_of_cut("leader", "pause").partition);
}

// A link between two servers affects no client links, and needs servers of our own.
TEST(fault_needs, has_own_servers_for_a_link) {
  const fault_needs needs = needs_of_cut("link 1 2");
  EXPECT_TRUE(needs.links);
  EXPECT_TRUE(needs.own_servers);
  EXPECT_FALSE(needs.proxies);
}

}  // namespace
}  // namespace lockmark::inject
