#include "harness/faults/theory.hpp"

#include <gtest/gtest.h>

#include "harness/faults/kind.hpp"

namespace lockmark::faults {
namespace {

using namespace std::chrono_literals;

config::job job_with(duration hold, duration lease, duration session) {
  config::job j = config::default_job();
  j.hold = *config::parse_distribution(config::print_duration(hold));
  j.lease = lease;
  j.session_timeout = session;
  return j;
}

fault_plan on_holder(std::string_view what, duration lasts = 0s) {
  fault_plan p;
  p.what = find_kind(what);
  p.who = "holder";
  p.lasts = lasts;
  return p;
}

constexpr features ensemble_session = feature::session_bound | feature::session_timeout;
const config::job usual = job_with(1500ms, 2s, 4s);

// Redis: the rest of the lease.
TEST(theory, a_killed_holder_blocks_for_the_rest_of_its_lease) {
  const auto p = predict(on_holder("kill"), feature::lease, usual, 500ms);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->least, 1500ms);
  EXPECT_EQ(p->most, 1500ms);
  EXPECT_TRUE(agrees(*p, 1500ms));
  EXPECT_TRUE(agrees(*p, 2100ms));
  EXPECT_FALSE(agrees(*p, 1200ms));
  EXPECT_FALSE(agrees(*p, 2200ms));
  EXPECT_FALSE(agrees(*p, std::nullopt));
}

// What should have come by the end of the run disagrees; what was still to come was not observed.
TEST(theory, needs_to_be_observed_for_long_enough) {
  const auto p = predict(on_holder("kill"), feature::lease, usual, 500ms);
  ASSERT_TRUE(p);
  EXPECT_EQ(agrees(*p, std::nullopt, 2s), std::nullopt);
  EXPECT_EQ(agrees(*p, std::nullopt, 3s), false);
  EXPECT_EQ(agrees(*p, 1500ms, 2s), true);
  EXPECT_EQ(agrees(*p, 1s, 2s), false);
  const auto never = predict(on_holder("kill"), features{}, usual, 500ms);
  EXPECT_EQ(agrees(*never, std::nullopt, 1s), true);
}

// SETNX without an expiry: for ever.
TEST(theory, without_lease_and_session_a_killed_holder_blocks_for_ever) {
  const auto p = predict(on_holder("kill"), features{}, usual, 500ms);
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->most);
  EXPECT_TRUE(agrees(*p, std::nullopt));
}

// A renewed lease ends two thirds to one lease after the last sign of life.
TEST(theory, renewal_makes_the_rest_uncertain) {
  config::job j = usual;
  j.renew = true;
  const features lock = feature::lease | feature::renewable;
  const auto p = predict(on_holder("kill"), lock, j, 500ms);
  ASSERT_TRUE(p);
  EXPECT_LT(p->least, 1400ms);
  EXPECT_EQ(p->most, 2s);
}

// ZooKeeper waits for the session to expire; MySQL sees the connection end.
TEST(theory, a_session_ends_by_its_own_rules) {
  const auto kill = on_holder("kill");
  const auto zk = predict(kill, ensemble_session, usual, 500ms);
  ASSERT_TRUE(zk);
  EXPECT_GT(zk->least, 2600ms);
  EXPECT_EQ(zk->most, 6s);
  const auto my = predict(kill, feature::session_bound, usual, 500ms);
  ASSERT_TRUE(my);
  EXPECT_EQ(my->most, 0s);
}

// A paused client keeps its connection: MySQL waits until it resumes, Redis only for the lease.
TEST(theory, a_paused_holder_blocks_until_somebody_loses_patience) {
  const auto pause = on_holder("pause", 8s);
  const auto my = predict(pause, feature::session_bound, usual, 500ms);
  ASSERT_TRUE(my);
  EXPECT_EQ(my->least, 8s);
  EXPECT_EQ(my->most, 9s);
  const auto redis = predict(pause, feature::lease, usual, 500ms);
  ASSERT_TRUE(redis);
  EXPECT_EQ(redis->most, 1500ms);
}

// A pause shorter than the lease costs its own length.
TEST(theory, a_short_pause_ends_before_the_lease) {
  const auto p =
      predict(on_holder("pause", 200ms), feature::lease, job_with(500ms, 30s, 4s), 100ms);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->most, 600ms);
}

// A holder in the minority keeps the lock until its session ends at the majority. A non-holder
// there may still be kept waiting by a holder that does not find the majority.
TEST(theory, a_parted_ensemble_grants_again_when_the_session_ends) {
  fault_plan p = on_holder("cut", 9s);
  p.who = "minority";
  p.with = "holder";
  const auto held = predict(p, ensemble_session, usual, 500ms);
  ASSERT_TRUE(held);
  EXPECT_GT(held->least, 2600ms);
  EXPECT_EQ(held->most, 7s);
  EXPECT_FALSE(agrees(*held, 1s));
  p.who = "leader";
  p.what = find_kind("stall");
  EXPECT_EQ(predict(p, ensemble_session, usual, 500ms)->most, 12s);
  EXPECT_EQ(predict(p, ensemble_session, usual, 500ms)->least, 7s);
  EXPECT_EQ(predict(p, ensemble_session, usual, std::nullopt)->least, 0s);
  p.lasts = 1s;
  EXPECT_EQ(predict(p, ensemble_session, usual, 500ms)->least, 0s);
  EXPECT_FALSE(predict(p, feature::lease, usual, 500ms));
  p.who = "majority";
  EXPECT_FALSE(predict(p, ensemble_session, usual, 500ms));
}

// Servers tell their ticks and the timeouts that they grant; what they do not tell is as by
// default.
TEST(theory, sessions_end_by_the_settings_of_the_servers) {
  const auto told = session_settings_of({{"server.name", "some"},
                                         {"server.session_tick", "500ms"},
                                         {"server.session_timeout_min", "6s"},
                                         {"server.silence", "3s"}});
  const auto kill = predict(on_holder("kill"), ensemble_session, usual, 500ms, told);
  ASSERT_TRUE(kill);
  EXPECT_EQ(kill->least, 4s);
  EXPECT_EQ(kill->most, 6500ms);
  fault_plan stall = on_holder("stall", 20s);
  stall.who = "leader";
  EXPECT_EQ(predict(stall, ensemble_session, usual, 500ms, told)->least, 8500ms);
  EXPECT_EQ(session_settings_of({{"server.session_tick", "often"}}).tick, 2s);
}

// The sweeper, if any, deletes the row of a dead owner.
TEST(theory, a_sweeper_frees_the_row_of_the_dead) {
  config::job j = usual;
  j.options["sweep"] = "3s";
  const auto p = predict(on_holder("kill"), features{}, j, 500ms);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->least, 2500ms);
  EXPECT_EQ(p->most, 3250ms);
  EXPECT_FALSE(agrees(*p, std::nullopt));
  j.options["sweep"] = "off";
  const auto never = predict(on_holder("kill"), features{}, j, 500ms);
  ASSERT_TRUE(never);
  EXPECT_FALSE(never->most);
}

// For a short cut: the server forgets the connected clients; holders of a row or a lease do not
// notice.
TEST(theory, a_cut_connection_matters_to_those_whose_lock_it_is) {
  const auto cut = on_holder("cut", 300ms);
  const auto bound = predict(cut, feature::session_bound, usual, 500ms);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->most, 0s);
  for (const features lock : {features{}, features{feature::lease}}) {
    const auto row = predict(cut, lock, usual, 500ms);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->least, 1s);
    EXPECT_EQ(row->most, 1s);
  }
  const auto zk = predict(cut, ensemble_session, usual, 500ms);
  ASSERT_TRUE(zk);
  EXPECT_EQ(zk->most, 1s);
}

// A holder that cannot release in time loses the lock to the lease or the session.
TEST(theory, a_long_cut_ends_with_the_lease_or_the_session) {
  const auto cut = on_holder("cut", 6s);
  const auto leased = predict(cut, feature::lease, usual, 500ms);
  ASSERT_TRUE(leased);
  EXPECT_EQ(leased->most, 1500ms);
  const auto zk = predict(cut, ensemble_session, usual, 500ms);
  ASSERT_TRUE(zk);
  EXPECT_EQ(zk->most, 6s);
  EXPECT_FALSE(predict(cut, features{}, usual, 500ms));
  const auto shorter = on_holder("cut", 1200ms);
  EXPECT_FALSE(predict(shorter, feature::lease, usual, 500ms));
}

// A holder blocks other keys only if the lock locks more than its own key.
TEST(theory, a_key_of_ones_own_concerns_nobody_else) {
  config::job j = job_with(100ms, 2s, 4s);
  j.keys.kind = config::key_choice::shape::own;
  const auto pause = on_holder("pause", 3s);
  const auto indexed = predict(pause, feature::session_bound, j, 50ms);
  ASSERT_TRUE(indexed);
  EXPECT_EQ(indexed->most, 100ms);
  EXPECT_FALSE(agrees(*indexed, 3s));
  j.options["indexed"] = "false";
  const auto unindexed = predict(pause, feature::session_bound, j, 50ms);
  ASSERT_TRUE(unindexed);
  EXPECT_EQ(unindexed->most, 3050ms);
  EXPECT_FALSE(agrees(*unindexed, 100ms));
}

TEST(theory, says_nothing_of_servers) {
  fault_plan p = on_holder("kill");
  p.who = "master";
  EXPECT_FALSE(predict(p, feature::lease, usual, std::nullopt));
}

}  // namespace
}  // namespace lockmark::faults
