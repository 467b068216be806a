#include "drivers/mysql/errors.hpp"

#include <gmock/gmock.h>

namespace lockmark::mysql {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const endpoint where{
    .host = "h", .port = 1, .user = "lm", .password = "secret", .database = "d", .tls = {}};

// The sentences of common failures name the place and the thing to check.
TEST(errors, login_failures_have_sentences) {
  EXPECT_THAT(sentence(where, {1045, "Access denied"}),
              AllOf(HasSubstr("mysql://h:1/d"), HasSubstr("'lm'"), Not(HasSubstr("secret"))));
  EXPECT_THAT(sentence(where, {1049, "Unknown database 'd'"}), HasSubstr("does not exist"));
  EXPECT_THAT(sentence(where, {1040, "Too many connections"}), HasSubstr("no more connections"));
  EXPECT_THAT(sentence(where, {2002, "refused"}), HasSubstr("nothing accepts connections"));
  EXPECT_THAT(sentence(where, {2059, "Authentication plugin 'x' cannot be loaded"}),
              AllOf(HasSubstr("does not know"), HasSubstr("'x'")));
  EXPECT_THAT(sentence(where, {connect_failure::timed_out, ""}), HasSubstr("time allowed"));
}

// The sentence of a failed statement distinguishes silence, a broken connection and a refusal.
TEST(errors, statement_failures_have_sentences) {
  answer a;
  a.unknown = doubt::deadline;
  EXPECT_THAT(sentence(where, "drop it", a), HasSubstr("cannot drop it: no answer"));
  a.unknown = doubt::connection_lost;
  EXPECT_THAT(sentence(where, "drop it", a), HasSubstr("broke"));
  a.unknown.reset();
  a.error = 1142;
  a.text = "DROP command denied";
  EXPECT_THAT(sentence(where, "drop it", a), HasSubstr("error 1142: DROP command denied"));
}

// The errors of a replica and of a Galera node without its cluster send clients to another server;
// a deadlock does not.
TEST(errors, knows_who_else_to_ask) {
  EXPECT_TRUE(is_for_another_server(1290));
  EXPECT_TRUE(is_for_another_server(1047));
  EXPECT_FALSE(is_for_another_server(error_number::deadlock));
  EXPECT_TRUE(is_conflict(error_number::deadlock));
}

// A refused lock wait leaves the connection usable; a killed connection does not.
TEST(errors, knows_what_ends_a_connection) {
  EXPECT_FALSE(ends_connection(error_number::lock_wait_timeout));
  EXPECT_FALSE(ends_connection(error_number::interrupted));
  EXPECT_TRUE(ends_connection(1927));
  EXPECT_TRUE(ends_connection(2013));
}

}  // namespace
}  // namespace lockmark::mysql
