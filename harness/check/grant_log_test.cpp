#include "harness/check/grant_log.hpp"

#include <gtest/gtest.h>

namespace lockmark::check {
namespace {

event at(std::int64_t ns, std::uint32_t key, std::uint32_t client) {
  event e;
  e.at_ns = ns;
  e.key = key;
  e.client = client;
  return e;
}

TEST(grant_log, knows_since_when_a_key_was_wanted) {
  grant_log log(2, 3);
  log.began(at(100, 0, 0));
  log.began(at(150, 0, 1));
  log.granted(at(200, 0, 0));
  log.released(at(300, 0, 0));
  log.granted(at(400, 0, 1));
  log.began(at(900, 1, 2));
  log.granted(at(950, 1, 2));
  ASSERT_EQ(log.grants().size(), 3U);
  EXPECT_EQ(log.grants()[0].wanted_ns, 100);
  EXPECT_EQ(log.grants()[0].released_ns, 300);
  EXPECT_EQ(log.grants()[1].wanted_ns, 200) << "somebody waited when it was granted before";
  EXPECT_EQ(log.grants()[2].wanted_ns, 900);
  EXPECT_GT(log.grants()[2].released_ns, 1'000'000) << "not released";
  EXPECT_TRUE(log.unserved().empty());
}

// Clients that give up and ask again want it all the time.
TEST(grant_log, counts_what_was_asked_for_in_vain) {
  grant_log log(2, 2);
  log.began(at(100, 1, 0));
  log.ended(at(200, 1, 0));
  log.began(at(300, 1, 0));
  log.ended(at(400, 1, 0));
  ASSERT_EQ(log.unserved().size(), 1U);
  EXPECT_EQ(log.unserved()[0].key, 1U);
  EXPECT_EQ(log.unserved()[0].wanted_ns, 100);
}

}  // namespace
}  // namespace lockmark::check
