#include <gtest/gtest.h>

#include "drivers/redis/redisson_protocol.hpp"

namespace lockmark::redis {
namespace {

std::string made(void (*append)(std::string&, std::string_view), std::string_view lock) {
  std::string name;
  append(name, lock);
  return name;
}

// The lock's name is in braces, so that a Cluster keeps everything that belongs to it on one node.
TEST(redisson_names, have_the_lock_in_braces) {
  EXPECT_EQ(made(append_channel, "lockmark:r:k"), "redisson_lock__channel:{lockmark:r:k}");
  EXPECT_EQ(made(append_rw_channel, "lockmark:r:k"), "redisson_rwlock:{lockmark:r:k}");
  EXPECT_EQ(fair_queue("k"), "redisson_lock_queue:{k}");
  EXPECT_EQ(fair_timeouts("k"), "redisson_lock_timeout:{k}");
  EXPECT_EQ(fencing_counter("k"), "redisson_lock_token:{k}");
  EXPECT_EQ(reader_timeouts("k", "uuid:7"), "{k}:uuid:7:rwlock_timeout");
  EXPECT_EQ(reader_prefix("k"), "{k}");
}

// A name with braces of its own keeps them.
TEST(redisson_names, keep_braces_of_their_own) {
  EXPECT_EQ(made(append_channel, "a{b}"), "redisson_lock__channel:a{b}");
  EXPECT_EQ(fencing_counter("a{b}"), "redisson_lock_token:a{b}");
  EXPECT_EQ(reader_timeouts("a{b}", "u:1"), "a{b}:u:1:rwlock_timeout");
  EXPECT_EQ(reader_prefix("a{b}"), "a{b}");
}

}  // namespace
}  // namespace lockmark::redis
