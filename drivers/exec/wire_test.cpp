// The line protocol: what lockmark writes, and how it parses the client's lines.
#include "drivers/exec/wire.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
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
  EXPECT_EQ(key_prefix("etcd", "r1"), "lockmark/r1/");
  EXPECT_EQ(key_prefix("mysql", "r1"), "");
}

TEST(Wire, ACallNamesWhoWhatAndUntilWhen) {
  const request r{.key = 3, .client = 2, .lease = 30s};
  const json j = json::parse(call_line(operation::acquire, 9, r, -5ms, 1s));
  EXPECT_EQ(j, json::parse(R"({"op":"acquire","id":9,"key":3,"client":2,"lease_ms":30000,
                               "wait_ms":0,"grace_ms":1000})"));
}

TEST(Wire, AGrantHasItsTokenItsEndAndItsStamps) {
  const auto a = read_line(R"({"id":9,"outcome":"granted","token":41,"valid_ms":100,
                              "received":1,"began":1000,"ended":5000,"sent":6000,
                              "reconnects":2})");
  ASSERT_TRUE(a && a->what == answer::kind::outcome);
  EXPECT_EQ(a->id, 9U);
  ASSERT_TRUE(a->ending->done());
  EXPECT_EQ(a->ending->value().token, 41U);
  EXPECT_EQ(a->valid, 100ms);
  ASSERT_TRUE(a->at);
  EXPECT_EQ(a->at->ended - a->at->began, 4000ns);
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
  EXPECT_FALSE(read_line(R"({"id":1,"outcome":"granted"})")->at) << "all stamps, or none";
}

std::string why_not(std::string_view line) {
  const auto read = read_line(line);
  return read ? "nothing is wrong" : read.error().sentence;
}

// A refusal is a promise. An unknown ending must not be taken for one.
TEST(Wire, WhatIsNoKnownEndingIsNoRefusal) {
  EXPECT_EQ(why_not(R"({"id":1,"outcome":"denied"})"),
            "its \"outcome\" is \"denied\"; expected granted, refused or doubt");
  EXPECT_EQ(why_not(R"({"id":1,"outcome":"refused","why":"tired"})"),
            "its \"why\" is \"tired\"; expected busy, deadline, not_owner or unavailable");
  EXPECT_EQ(why_not(R"({"id":1,"outcome":"refused"})"),
            "it has no \"why\"; expected busy, deadline, not_owner or unavailable");
  EXPECT_EQ(why_not(R"({"id":1,"outcome":"doubt","why":"fog"})"),
            "its \"why\" is \"fog\"; expected lost or deadline");
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
  EXPECT_FALSE(read_line(R"({"ready":false})")->is_ready);
  EXPECT_TRUE(read_line(R"({"ready":true,"protocol":1})")->is_ready);
  EXPECT_EQ(why_not(R"({"ready":true,"protocol":2})"), "its \"protocol\" is 2; expected 1");
}

// Numbers are accepted exactly or not at all: neither truncated, nor wrapped, nor rounded.
TEST(Wire, NumbersThatDoNotFitAreSaidSo) {
  const auto granted = [](std::string_view more) {
    return why_not(fmt::format(R"({{"id":1,"outcome":"granted",{}}})", more));
  };
  for (const char* ms : {"9223372036854775807", "18446744073709551615", "1e300", "\"1\"", "null",
                         "-9223372036854775808"}) {
    EXPECT_EQ(granted(fmt::format("\"valid_ms\":{}", ms)),
              fmt::format("its \"valid_ms\" is {}; expected whole milliseconds, at most a hundred "
                          "years",
                          std::string_view{ms} == "1e300" ? "1e+300" : ms));
  }
  for (const char* token : {"-1", "1.5", "\"7\"", "18446744073709551616"}) {
    EXPECT_THAT(granted(fmt::format("\"token\":{}", token)),
                testing::HasSubstr("expected a whole number from 0"));
  }
  EXPECT_THAT(why_not(R"({"id":-1,"outcome":"granted"})"), testing::HasSubstr("its \"id\" is -1"));
  EXPECT_THAT(why_not(R"({"id":"7","outcome":"granted"})"),
              testing::HasSubstr("its \"id\" is \"7\""));
  EXPECT_THAT(granted("\"began\":1"), testing::HasSubstr("it has no \"received\""));
  EXPECT_THAT(granted(R"("received":1,"began":1,"ended":1.5,"sent":2)"),
              testing::HasSubstr("its \"ended\" is 1.5; expected nanoseconds"));
}

// A short line must not become a large value, nor one as deep as the stack.
TEST(Wire, DepthIsBounded) {
  const std::string deep(longest_line, '[');
  EXPECT_EQ(why_not(deep), "its values are too deep in one another");
  EXPECT_EQ(why_not(R"({"id":)" + deep), "its values are too deep in one another");
  EXPECT_EQ(why_not(R"({"id":[],"outcome":"granted"})"),
            "its \"id\" is a list; expected a whole number from 0");
}

call_stamps stamps(std::int64_t received, std::int64_t began, std::int64_t ended,
                   std::int64_t sent) {
  return {from_ns(received), from_ns(began), from_ns(ended), from_ns(sent)};
}

constexpr std::int64_t an_hour = 3'600'000'000'000;

TEST(Wire, StampsLieInTheirOrderBetweenRequestAndAnswer) {
  const time_point asked = from_ns(an_hour);
  const time_point read = asked + 10ms;
  const auto wrong = [&](std::int64_t received, std::int64_t began, std::int64_t ended,
                         std::int64_t sent) {
    return wrong_with(stamps(received, began, ended, sent), asked, read);
  };
  EXPECT_EQ(wrong(an_hour, an_hour, an_hour + 1, an_hour + 10'000'000), "");
  EXPECT_EQ(wrong(an_hour - 500, an_hour, an_hour, an_hour), "") << "a double's rounding";
  EXPECT_EQ(wrong(an_hour - 5'000, an_hour, an_hour, an_hour),
            "its stamp \"received\" is 3599999995000; expected nanoseconds of this host's "
            "CLOCK_MONOTONIC, and received (at 3599999995000) not before the request was written "
            "(at 3600000000000)");
  EXPECT_THAT(wrong(an_hour + 9'000, an_hour, an_hour, an_hour),
              testing::HasSubstr("\"began\" is"));
  EXPECT_THAT(wrong(an_hour, an_hour + 9'000, an_hour, an_hour),
              testing::HasSubstr("\"ended\" is"));
  EXPECT_THAT(wrong(an_hour, an_hour, an_hour + 9'000, an_hour), testing::HasSubstr("\"sent\" is"));
  EXPECT_THAT(wrong(an_hour, an_hour, an_hour, an_hour + 20'000'000),
              testing::HasSubstr("\"sent\" is 3600020000000; expected"));
}

// The client's own queue, from received to began, is no pipe; nor is what it does after the call.
TEST(Wire, ThePipeIsWhatIsOutsideTheClient) {
  const auto pipe = [](duration whole, std::int64_t received, std::int64_t sent) {
    return pipe_of(whole, stamps(received, sent - 3'000'000, sent - 1'000'000, sent));
  };
  EXPECT_EQ(pipe(37ms, an_hour, an_hour + 36'500'000), 500us);
  EXPECT_EQ(pipe(37ms, an_hour, an_hour + 3'000'000), 34ms) << "read late";
  EXPECT_EQ(pipe(3ms, an_hour - 500, an_hour + 3'000'000), 0ns) << "a double's rounding";
  EXPECT_EQ(pipe_of(37ms, std::nullopt), 0ns) << "all counts as the lock's";
}

TEST(Wire, StampsOfAnotherClockOrUnitAreRecognised) {
  const time_point asked = from_ns(an_hour);
  const auto wrong = [&](std::int64_t all) {
    return wrong_with(stamps(all, all, all, all), asked, asked + 10ms);
  };
  EXPECT_THAT(wrong(1'795'371'129'755'624'328),
              testing::HasSubstr("which looks like a wall clock"));
  EXPECT_THAT(wrong(an_hour / 1'000 + 3'000), testing::HasSubstr("looks like microseconds"));
  EXPECT_THAT(wrong(an_hour / 1'000'000 + 4), testing::HasSubstr("looks like milliseconds"));
  EXPECT_THAT(wrong(an_hour / 1'000'000'000), testing::HasSubstr("looks like seconds"));
  EXPECT_NE(wrong(std::numeric_limits<std::int64_t>::max()), "");
  EXPECT_NE(wrong(0), "");
}

TEST(Wire, ALineIsQuotedShortAndPlain) {
  EXPECT_EQ(quoted_line("a\tb\x1b[31m\xc3"), "a\\x09b\\x1b[31m\\xc3");
  const std::string quoted = quoted_line(std::string(1'000, 'x'));
  EXPECT_EQ(quoted, std::string(200, 'x') + "... (1000 bytes)");
}

TEST(Wire, SecretsAreKnownInEveryForm) {
  const std::string url = "redis://u:p%22%40ss@h:1/0";
  const auto all = secrets_in(url, *config::parse_target(url));
  EXPECT_THAT(all, testing::UnorderedElementsAre("p\\\"@ss", "p\"@ss", "p%22%40ss"));
  const std::string open = "redis://h:1";
  EXPECT_THAT(secrets_in(open, *config::parse_target(open)), testing::IsEmpty());
}

TEST(Wire, AnythingElseIsNotOfTheProtocol) {
  for (const char* line : {"", "hello", "[]", "{}", "1", R"({"id":"x","outcome":"granted"})",
                           R"({"id":1})", R"({"alive":3})", R"({"id":1,"outcome":7})"}) {
    EXPECT_FALSE(read_line(line)) << line;
  }
}

}  // namespace
}  // namespace lockmark::exec
