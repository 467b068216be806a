#include "drivers/postgres/errors.hpp"

#include <gmock/gmock.h>

namespace lockmark::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using reason = connect_failure::reason;

const endpoint where{
    .host = "h", .port = 1, .user = "lm", .password = "secret", .database = "d", .tls = {}};

// The sentences of common failures name the place and the thing to check.
TEST(errors, login_failures_have_sentences) {
  const auto refused = [](const char* sqlstate, const char* text) {
    return sentence(where, {reason::refused, sqlstate, text});
  };
  EXPECT_THAT(refused("28P01", "password authentication failed"),
              AllOf(HasSubstr("postgres://h:1/d"), HasSubstr("'lm'"), Not(HasSubstr("secret"))));
  EXPECT_THAT(refused("28000", "no pg_hba.conf entry"), HasSubstr("pg_hba.conf"));
  EXPECT_THAT(refused("3D000", "database \"d\" does not exist"), HasSubstr("does not exist"));
  EXPECT_THAT(refused("53300", "too many"), HasSubstr("no more connections"));
  EXPECT_THAT(refused("57P03", "starting up"), HasSubstr("just now"));
  EXPECT_THAT(refused("XX000", "what"), HasSubstr("error XX000: what"));
  EXPECT_THAT(sentence(where, {reason::unreachable, "", "Connection refused"}),
              AllOf(HasSubstr("nothing accepts connections"), HasSubstr("refused")));
  EXPECT_THAT(sentence(where, {reason::timed_out, "", ""}), HasSubstr("time allowed"));
  EXPECT_THAT(sentence(where, {reason::tls, "", "certificate verify failed"}),
              HasSubstr("TLS failed"));
  EXPECT_THAT(sentence(where, {reason::plain_password, "", ""}), HasSubstr("sslmode=verify-full"));
  EXPECT_THAT(sentence(where, {reason::nonsense, "", "what"}), HasSubstr("no PostgreSQL server"));
}

// The sentence of a failed statement distinguishes silence, a broken connection and a refusal.
TEST(errors, statement_failures_have_sentences) {
  answer a;
  a.unknown = doubt::deadline;
  EXPECT_THAT(sentence(where, "drop it", a), HasSubstr("cannot drop it: no answer"));
  a.unknown = doubt::connection_lost;
  EXPECT_THAT(sentence(where, "drop it", a), HasSubstr("broke"));
  a.sqlstate = "57P01";
  a.text = "terminating connection";
  EXPECT_THAT(sentence(where, "drop it", a), HasSubstr("error 57P01: terminating connection"));
  a.unknown.reset();
  a.sqlstate = "42501";
  a.text = "must be owner";
  EXPECT_THAT(sentence(where, "drop it", a), HasSubstr("error 42501: must be owner"));
}

// A standby's error sends clients to another server; a conflict does not, nor does it end the run.
TEST(errors, are_told_apart) {
  EXPECT_TRUE(is_for_another_server("25006"));
  EXPECT_FALSE(is_for_another_server(state::deadlock));
  EXPECT_TRUE(is_conflict(state::deadlock));
  EXPECT_TRUE(is_conflict("40001"));
  EXPECT_TRUE(is_permanent("42P01"));
  EXPECT_FALSE(is_permanent(state::lock_not_available));
  EXPECT_FALSE(is_permanent("57P03"));
  EXPECT_TRUE(is_doubtful("08006"));
  EXPECT_FALSE(is_doubtful("57014"));
  EXPECT_TRUE(is_of_a_spoilt_session("26000"));
}

}  // namespace
}  // namespace lockmark::postgres
