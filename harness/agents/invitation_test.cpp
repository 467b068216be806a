#include "harness/agents/invitation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/errors.hpp"

namespace lockmark::agents {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(invitation, is_one_word_that_is_read_back) {
  const identity who = make_identity();
  const std::string text = to_text(who.guests);
  EXPECT_THAT(text, Not(HasSubstr(" ")));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  const invitation read = read_invitation(text + "\n");
  EXPECT_EQ(read.token, who.guests.token);
  EXPECT_EQ(read.certificate, who.guests.certificate);
  EXPECT_THAT(who.key, HasSubstr("PRIVATE KEY"));
}

TEST(invitation, no_two_are_alike) {
  EXPECT_NE(make_identity().guests.token, make_identity().guests.token);
  EXPECT_EQ(make_identity().guests.token.size(), 32U);
}

TEST(identity, is_read_back) {
  const identity who = make_identity();
  const identity read = read_identity(to_text(who));
  EXPECT_EQ(read.key, who.key);
  EXPECT_EQ(read.guests.token, who.guests.token);
  EXPECT_EQ(read.guests.certificate, who.guests.certificate);
}

void expect_refusal(const std::string& text, const std::string& sentence) {
  try {
    read_identity(text, "--identity: f");
    ADD_FAILURE() << text;
  } catch (const usage_error& e) {
    EXPECT_THAT(e.what(), HasSubstr(sentence));
    EXPECT_THAT(e.what(), StartsWith("--identity: f: "));
    EXPECT_THAT(e.what(), Not(HasSubstr("hunter2")));
  }
}

// Neither what is shown nor an agent's half will do, nor halves of two.
TEST(identity, other_texts_are_refused_and_not_quoted) {
  const identity who = make_identity();
  const identity halves{who.guests, make_identity().key};
  for (const std::string& text :
       {std::string(), std::string("hunter2\nhunter2"), who.key, to_text(who.guests),
        to_text(who.guests) + "\nhunter2", to_text(halves)}) {
    expect_refusal(text, "this is not the identity of a coordinator");
  }
}

TEST(identity, ends_with_its_certificate) {
  const identity old = make_identity(-60);
  expect_refusal(to_text(old), "it was valid until ");
  EXPECT_THROW(read_invitation(to_text(old.guests)), usage_error);
}

// A secret that was mistyped is not shown.
TEST(invitation, other_texts_are_refused_and_not_quoted) {
  const std::string good = to_text(make_identity().guests);
  for (const std::string& text :
       {std::string("hunter2"), std::string(), std::string("lockmark-invitation-1."),
        good.substr(0, good.size() / 2), std::string("lockmark-invitation-1.hunter2.AAAA")}) {
    try {
      read_invitation(text);
      ADD_FAILURE() << text;
    } catch (const usage_error& e) {
      EXPECT_THAT(e.what(), HasSubstr("not an invitation"));
      EXPECT_THAT(e.what(), Not(HasSubstr("hunter2")));
    }
  }
}

}  // namespace
}  // namespace lockmark::agents
