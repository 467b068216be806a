// Parsing a side of the gate; and none of its passwords gets onto a command line.
#include "program/gate_side.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/errors.hpp"

namespace lockmark::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(gate_words, are_separated_by_blanks_outside_of_quotes_and_parentheses) {
  EXPECT_THAT(words_of("  a  b=c "), ElementsAre("a", "b=c"));
  EXPECT_THAT(words_of("retry=jittered(1ms, 20ms) hold=1ms"),
              ElementsAre("retry=jittered(1ms, 20ms)", "hold=1ms"));
  EXPECT_THAT(words_of("on='exec:python3 my lock.py' x=\"\""),
              ElementsAre("on=exec:python3 my lock.py", "x="));
  EXPECT_THAT(words_of(""), IsEmpty());
}

TEST(gate_side, has_what_both_have_and_what_it_says_itself) {
  gate_side common;
  common.target = "redis://a";
  common.set = {"hold=1ms"};
  const gate_side same = read_side(common, "baseline", {});
  EXPECT_EQ(same.target, "redis://a");
  const gate_side other =
      read_side(common, "candidate", {"on=redis://b lock=redis/lua", "hold=2ms with=/bin/sh"});
  EXPECT_EQ(other.target, "redis://b");
  EXPECT_THAT(other.set, ElementsAre("hold=1ms", "lock=redis/lua", "hold=2ms"));
  EXPECT_THAT(other.program, HasSubstr("sh"));
}

TEST(gate_side, that_is_none_is_explained) {
  const std::pair<const char*, const char*> cases[] = {
      {"redis/lua", "--candidate: expected on=TARGET, with=LOCKMARK, or a KEY=VALUE"},
      {"=x", "--candidate: expected on=TARGET"},
      {"with=/no/such/file", "--candidate: with=/no/such/file is no program"},
      {"with=/tmp", "is no program"},
      {"ho?ld=1ms", "--candidate: "},
      {"redis://u:secret@h", "not 'redis://u:***@h:6379'"},
  };
  for (const auto& [text, sentence] : cases) {
    try {
      read_side({}, "candidate", {text});
      ADD_FAILURE() << text;
    } catch (const usage_error& e) {
      EXPECT_THAT(e.what(), AllOf(HasSubstr(sentence), Not(HasSubstr("secret"))));
    }
  }
}

TEST(gate_password, goes_by_a_variable) {
  const auto expect = [](const char* url, const char* bare, const char* variable) {
    const open_url o = without_password(url, true);
    EXPECT_EQ(o.url, bare);
    EXPECT_EQ(o.variable, variable);
  };
  expect("redis://h:1/2", "redis://h:1/2", "");
  expect("memory:", "memory:", "");
  expect("exec:lock secret", "", "LOCKMARK_TARGET=exec:lock secret");
  expect("redis://u:p%40ss@h:1/2", "redis://u@h:1/2?password-env=LOCKMARK_GATE_PASSWORD",
         "LOCKMARK_GATE_PASSWORD=p@ss");
  expect("redis://:pw@h", "redis://h?password-env=LOCKMARK_GATE_PASSWORD",
         "LOCKMARK_GATE_PASSWORD=pw");
  expect("mysql://u:pw@a,b/db?tls=yes",
         "mysql://u@a,b/db?tls=yes&password-env=LOCKMARK_GATE_PASSWORD",
         "LOCKMARK_GATE_PASSWORD=pw");
}

}  // namespace
}  // namespace lockmark::cli
