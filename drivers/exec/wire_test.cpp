// The line protocol: what lockmark writes and how it reads what it is answered.
#include "drivers/exec/wire.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockmark::exec {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

TEST(Wire, HelloTellsTheServerWholeAndTakenApart) {
  const std::string url = "redis+sentinel://u:p%40ss@h1,[::1]:7/prime";
  const std::vector<std::string> keys{"k0", "k1"};
  const option_values options{{"kind", "fair"}};
  const greeting g{.url = url,
                   .server = *config::parse_target(url),
                   .lock = "exec/redisson",
                   .run = "r1",
                   .keys = keys,
                   .prefix = key_prefix("redis+sentinel", "r1"),
                   .options = options,
                   .who = {"i7", 7, 4, 10s},
                   .within = 1500us};
  const std::string line = hello_line(g);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const json j = json::parse(line);
  EXPECT_EQ(j.at("protocol"), 1);
  EXPECT_EQ(j.at("target"), url);
  EXPECT_EQ(j.at("server").at("password"), "p@ss");
  EXPECT_EQ(j.at("server").at("hosts").at(1), "[::1]:7");
  EXPECT_EQ(j.at("server").at("path"), "prime");
  EXPECT_EQ(j.at("prefix"), "lockmark:r1:");
  EXPECT_EQ(j.at("keys"), json(keys));
  EXPECT_EQ(j.at("options").at("kind"), "fair");
  EXPECT_EQ(j.at("clients"), 4);
  EXPECT_EQ(j.at("session_ms"), 10'000);
  EXPECT_EQ(j.at("within_ms"), 2) << "never less than there is";
}

TEST(Wire, KeysAreNamedAsByOurOwnLocks) {
  EXPECT_EQ(key_prefix("redis", "r1"), "lockmark:r1:");
  EXPECT_EQ(key_prefix("redis+independent", "r1"), "lockmark:r1:");
  EXPECT_EQ(key_prefix("rediss+cluster", "r1"), "lockmark:r1:");
  EXPECT_EQ(key_prefix("zookeeper", "r1"), "/lockmark/r1/");
  EXPECT_EQ(key_prefix("mysql", "r1"), "");
}

TEST(Wire, ACallNamesWhoWhatAndUntilWhen) {
  const request r{.key = 3, .client = 2, .lease = 30s};
  const json j = json::parse(call_line(operation::acquire, 9, r, -5ms, 1s));
  EXPECT_EQ(j, json::parse(R"({"op":"acquire","id":9,"key":3,"client":2,"lease_ms":30000,
                               "wait_ms":0,"grace_ms":1000})"));
}

TEST(Wire, AGrantHasItsTokenItsEndAndItsTimeAtWork) {
  const auto a = read_line(R"({"id":9,"outcome":"granted","token":41,"valid_ms":100,
                              "received":1,"began":1000,"ended":5000,"sent":6000,
                              "reconnects":2})");
  ASSERT_TRUE(a && a->what == answer::kind::outcome);
  EXPECT_EQ(a->id, 9U);
  ASSERT_TRUE(a->ending->done());
  EXPECT_EQ(a->ending->value().token, 41U);
  EXPECT_EQ(a->ending->value().valid_until, from_ns(5000) + 100ms);
  EXPECT_EQ(a->at_work, 4000ns);
  EXPECT_EQ(a->reconnects, 2U);
}

TEST(Wire, EveryEndingIsUnderstood) {
  const auto ending = [](std::string_view how) { return *read_line(how)->ending; };
  EXPECT_TRUE(ending(R"({"id":1,"outcome":"refused","why":"busy"})").refused(refusal::busy));
  EXPECT_TRUE(
      ending(R"({"id":1,"outcome":"refused","why":"deadline"})").refused(refusal::deadline));
  EXPECT_TRUE(
      ending(R"({"id":1,"outcome":"refused","why":"not_owner"})").refused(refusal::not_owner));
  EXPECT_TRUE(
      ending(R"({"id":1,"outcome":"refused","why":"unavailable"})").refused(refusal::unavailable));
  EXPECT_EQ(ending(R"({"id":1,"outcome":"doubt","why":"lost"})").why_in_doubt(),
            doubt::connection_lost);
  EXPECT_EQ(ending(R"({"id":1,"outcome":"doubt","why":"deadline"})").why_in_doubt(),
            doubt::deadline);
  const auto forever = ending(R"({"id":1,"outcome":"granted"})");
  EXPECT_EQ(forever.value().valid_until, time_point::max()) << "without a lease";
}

// A refusal is a promise. What lockmark does not know it must not take for one.
TEST(Wire, WhatIsNoKnownEndingIsNoRefusal) {
  EXPECT_FALSE(read_line(R"({"id":1,"outcome":"denied"})"));
  EXPECT_FALSE(read_line(R"({"id":1,"outcome":"refused","why":"tired"})"));
  EXPECT_FALSE(read_line(R"({"id":1,"outcome":"refused"})"));
}

TEST(Wire, OtherLines) {
  const auto ready = read_line(
      R"({"ready":true,"version":"X 1","features":["lease"],"about":{"server.version":"7"}})");
  ASSERT_TRUE(ready && ready->what == answer::kind::ready);
  EXPECT_EQ(ready->text, "X 1");
  EXPECT_EQ(ready->features, std::vector<std::string>{"lease"});
  EXPECT_EQ(ready->about, (description{{"server.version", "7"}}));
  EXPECT_EQ(read_line(R"({"failed":"no"})")->text, "no");
  EXPECT_FALSE(read_line(R"({"alive":false})")->alive);
}

TEST(Wire, AnythingElseIsNotOfTheProtocol) {
  for (const char* line : {"", "hello", "[]", "{}", "1", R"({"id":"x","outcome":"granted"})",
                           R"({"id":1})", R"({"alive":3})", R"({"id":1,"outcome":7})"}) {
    EXPECT_FALSE(read_line(line)) << line;
  }
}

}  // namespace
}  // namespace lockmark::exec
