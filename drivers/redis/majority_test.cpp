#include "drivers/redis/majority.hpp"

#include <gtest/gtest.h>

#include "drivers/redis/slot.hpp"
#include "drivers/redis/wall_clock.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;

constexpr vote yes = vote::yes, no = vote::no, unasked = vote::unasked, lost = vote::lost,
               late = vote::late;

// More than half, also of an even number.
TEST(majority, is_more_than_half) {
  EXPECT_EQ(majority_of(1), 1U);
  EXPECT_EQ(majority_of(3), 2U);
  EXPECT_EQ(majority_of(4), 3U);
  EXPECT_EQ(majority_of(5), 3U);
}

// An outcome is a vote: only a doubt is unknown.
TEST(majority, votes) {
  EXPECT_EQ(vote_of(outcome<nothing>{nothing{}}, true), yes);
  EXPECT_EQ(vote_of(outcome<nothing>{nothing{}}, false), no);
  EXPECT_EQ(vote_of(outcome<nothing>{refusal::not_owner}, true), no);
  EXPECT_EQ(vote_of(outcome<nothing>{refusal::unavailable}, true), unasked);
  EXPECT_EQ(vote_of(outcome<nothing>{refusal::deadline}, true), unasked);
  EXPECT_EQ(vote_of(outcome<nothing>{doubt::deadline}, true), late);
  EXPECT_EQ(vote_of(outcome<nothing>{doubt::connection_lost}, true), lost);
}

// A release by the majority is done; one that no majority can confirm any more was not the owner's.
TEST(majority, of_a_release) {
  const auto ending = [](std::vector<vote> votes) { return ending_of(answers{votes}, 3); };
  EXPECT_TRUE(ending({yes, yes, yes, unasked, unasked}).done());
  EXPECT_TRUE(ending({yes, yes, yes, late, no}).done());
  EXPECT_TRUE(ending({yes, yes, no, no, no}).refused(refusal::not_owner));
  EXPECT_TRUE(ending({no, no, no, late, lost}).refused(refusal::not_owner));
  EXPECT_TRUE(ending({yes, yes, unasked, unasked, unasked}).refused(refusal::unavailable));
  EXPECT_EQ(ending({yes, yes, late, unasked, no}).why_in_doubt(), doubt::deadline);
  EXPECT_EQ(ending({lost, lost, unasked, unasked, no}).why_in_doubt(), doubt::connection_lost);
}

// A key that was taken, or may have been, is left unless its place said that it is gone.
TEST(majority, leaves_what_was_not_taken_back) {
  EXPECT_EQ(left_over({yes, yes, no, late, unasked}, {yes, no, no, yes, yes}), 0U);
  EXPECT_EQ(left_over({yes, late, lost, no, unasked}, {late, unasked, lost, late, late}), 3U);
}

// A failed attempt is in doubt only if the keys that it leaves behind keep others out.
TEST(majority, of_an_attempt_that_failed) {
  const auto ending = [](std::vector<vote> votes, std::size_t left) {
    return ending_of_failure(answers{votes}, left, 3);
  };
  EXPECT_TRUE(ending({yes, yes, no, no, no}, 0).refused(refusal::busy));
  EXPECT_TRUE(ending({yes, yes, no, late, late}, 2).refused(refusal::busy));
  EXPECT_EQ(ending({yes, yes, late, late, no}, 3).why_in_doubt(), doubt::deadline);
  EXPECT_TRUE(ending({yes, yes, unasked, unasked, unasked}, 0).refused(refusal::unavailable));
  EXPECT_TRUE(ending({yes, yes, yes, yes, yes}, 0).refused(refusal::unavailable)) << "too late";
  EXPECT_FALSE(keeps_others_out(2, 5, 3));
  EXPECT_TRUE(keeps_others_out(3, 5, 3));
  EXPECT_TRUE(keeps_others_out(2, 4, 3)) << "an even number is kept out by half";
  EXPECT_TRUE(keeps_others_out(1, 3, 3)) << "where all are needed, one is enough";
}

// The lease less a hundredth and 2 ms, from the moment of asking.
TEST(redlock, validity) {
  EXPECT_EQ(drift_of(10s), 102ms);
  const time_point asked{5s};
  EXPECT_EQ(valid_until(asked, 10s), asked + 9898ms);
}

// A lock ends after its lease and not within it; only one that has ended is taken over, and only by
// the client that gets back the value that it had read.
TEST(getset, decides_by_the_times) {
  EXPECT_EQ(ending_after(1000, 400), 1401);
  EXPECT_FALSE(has_ended(1401, 1400));
  EXPECT_FALSE(has_ended(1401, 1401));
  EXPECT_TRUE(has_ended(1401, 1402));
  EXPECT_TRUE(may_take_over("1401", 1402));
  EXPECT_FALSE(may_take_over("1401", 1401));
  EXPECT_FALSE(may_take_over("", 1402)) << "a key that is gone is no key that has ended";
  EXPECT_FALSE(may_take_over("1401x", 1500));
  reply back;
  EXPECT_FALSE(took_over("1401", back)) << "given up in between";
  back.what = reply::kind::text;
  back.text = "1401";
  EXPECT_TRUE(took_over("1401", back));
  back.text = "1900";
  EXPECT_FALSE(took_over("1401", back)) << "somebody was quicker";
}

// TIME's two numbers; anything else is nothing, also if it would overflow.
TEST(wall_clock, reads_the_time_of_day) {
  reply r;
  EXPECT_EQ(time_of_day(r), std::nullopt);
  r.what = reply::kind::array;
  r.parts.resize(2);
  r.parts[0].text = "1700000000";
  r.parts[1].text = "250000";
  EXPECT_EQ(time_of_day(r), 1700000000s + 250ms);
  for (const char* seconds : {"", "x", "-1", "9223372036854775807", "1700000000 "}) {
    r.parts[0].text = seconds;
    EXPECT_EQ(time_of_day(r), std::nullopt) << seconds;
  }
  r.parts[0].text = "1700000000";
  r.parts[1].text = "1000000";
  EXPECT_EQ(time_of_day(r), std::nullopt);
}

// The same shard on every machine, and all of them in use.
TEST(shard, spreads_keys) {
  EXPECT_EQ(shard_of("anything", 1), 0U);
  std::vector<int> keys_of(5);
  for (int i = 0; i < 1000; ++i) ++keys_of[shard_of("lockmark:r:k" + std::to_string(i), 5)];
  for (const int n : keys_of) EXPECT_GT(n, 100);
  EXPECT_EQ(shard_of("lockmark:r:k0", 5), shard_of(std::string{"lockmark:r:k0"}, 5));
}

}  // namespace
}  // namespace lockmark::redis
