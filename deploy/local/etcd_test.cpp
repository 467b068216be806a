// Clusters of etcd as real servers: the leader, and the effect of members that die.
#include <gmock/gmock.h>

#include <csignal>

#include "deploy/local/cluster.hpp"
#include "deploy/local/roles.hpp"
#include "deploy/local/test_support.hpp"

namespace lockmark::local {
namespace {

using testing::SizeIs;

// When start() returns, one member leads and all others follow; and again after the leader was
// killed and has come back.
TEST(etcd_cluster, survives_its_leader) {
  auto three = cluster::start("etcd-3");
  const auto first = leaders(three.info());
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_THAT(followers(three.info()), SizeIs(2));
  three.kill(first[0], SIGKILL);
  EXPECT_TRUE(eventually([&] {
    const auto now = leaders(three.info());
    return now.size() == 1 && now != first;
  }));
  EXPECT_THAT(followers(three.info()), SizeIs(1));
  three.restart(first[0]);
  EXPECT_THAT(leaders(three.info()), SizeIs(1));
  EXPECT_THAT(followers(three.info()), SizeIs(2));
}

// Two of five may die, but not three.
TEST(etcd_cluster, needs_a_majority) {
  auto five = cluster::start("etcd-5");
  EXPECT_THAT(followers(five.info()), SizeIs(4));
  five.kill("etcd-1", SIGKILL);
  five.kill("etcd-2", SIGKILL);
  EXPECT_TRUE(eventually([&] { return leaders(five.info()).size() == 1; }));
  five.kill("etcd-3", SIGKILL);
  EXPECT_TRUE(eventually([&] { return leaders(five.info()).empty(); }));
  five.restart("etcd-1");
  EXPECT_THAT(leaders(five.info()), SizeIs(1));
}

}  // namespace
}  // namespace lockmark::local
