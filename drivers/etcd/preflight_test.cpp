#include "drivers/etcd/preflight.hpp"

#include <gmock/gmock.h>

namespace lockmark::etcd {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

member_report healthy(const std::string& address) {
  member_report m;
  m.address = address;
  m.status = {"3.4.23", 1, 1, 20480, 20480};
  m.quota = 2e9;
  m.clock_s = 1'000'000;
  return m;
}

TEST(judge_members, has_nothing_against_healthy_ones) {
  EXPECT_THAT(judge_members("etcd://a:1,b:1", {healthy("a:1"), healthy("b:1")}), IsEmpty());
  member_report tells_nothing = healthy("a:1");
  tells_nothing.quota = 0;
  tells_nothing.clock_s.reset();
  EXPECT_THAT(judge_members("etcd://a:1", {tells_nothing}), IsEmpty());
}

TEST(judge_members, notes_a_silent_one) {
  member_report silent = healthy("b:1");
  silent.failure = "etcd://b:1: Connection refused";
  const auto found = judge_members("etcd://a:1,b:1", {healthy("a:1"), silent});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_FALSE(found[0].fatal);
  EXPECT_EQ(found[0].sentence, "1 of 2 servers do not answer: b:1");
}

void expect_fatal(const member_report& m, const char* part) {
  const auto found = judge_members("etcd://a:1", {m});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_TRUE(found[0].fatal);
  EXPECT_THAT(found[0].sentence, AllOf(HasSubstr("a:1"), HasSubstr(part)));
}

TEST(judge_members, stops_before_what_cannot_work) {
  member_report m = healthy("a:1");
  m.raised.out_of_space = true;
  expect_fatal(m, "NOSPACE");
  m = healthy("a:1");
  m.raised.corrupt = true;
  expect_fatal(m, "CORRUPT");
  m = healthy("a:1");
  m.status.leader = 0;
  expect_fatal(m, "has no leader");
  m = healthy("a:1");
  m.status.version = "3.3.27";
  expect_fatal(m, "3.4 or newer");
}

TEST(judge_members, notes_a_database_that_is_nearly_full) {
  member_report m = healthy("a:1");
  m.status.size = 1'700'000'000;
  const auto found = judge_members("etcd://a:1", {m});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_FALSE(found[0].fatal);
  EXPECT_THAT(found[0].sentence, HasSubstr("1700000000 of the 2000000000 bytes"));
}

TEST(judge_members, notes_clocks_that_differ) {
  member_report late = healthy("b:1");
  late.clock_s = 1'000'040;
  const auto found = judge_members("etcd://a:1,b:1", {healthy("a:1"), late});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_FALSE(found[0].fatal);
  EXPECT_THAT(found[0].sentence, HasSubstr("differ by 40 s"));
}

TEST(judge_ttl, notes_what_was_rounded) {
  EXPECT_FALSE(judge_ttl(4s, 4s));
  EXPECT_THAT(judge_ttl(1500ms, 2s)->sentence,
              HasSubstr("1500 ms was asked for, and the servers grant leases of 2000 ms"));
}

TEST(judge_descriptors, counts_what_is_open) {
  EXPECT_FALSE(judge_descriptors(1024, 100, 800));
  EXPECT_TRUE(judge_descriptors(1024, 100, 1000)->fatal);
}

}  // namespace
}  // namespace lockmark::etcd
