// The answers that a command may have, and how an answer is shown, without a server.
#include <gtest/gtest.h>

#include "drivers/redis/replies.hpp"

namespace lockmark::redis {
namespace {

reply answer(std::string_view resp) {
  reply_parser parser;
  parser.feed(resp);
  reply r;
  EXPECT_EQ(parser.next(r), reply_parser::state::whole) << resp;
  return r;
}

bool fits(std::string_view command, std::string_view said) {
  std::string sent;
  append_command(sent, command, "key");
  return is_answer_to(sent, answer(said));
}

TEST(answers, have_the_shape_that_the_command_gives_them) {
  for (const char* counts : {"SETNX", "DEL", "EXPIRE", "PEXPIRE", "WAIT"}) {
    EXPECT_TRUE(fits(counts, ":1\r\n"));
    for (const char* wrong : {"+OK\r\n", "$1\r\n1\r\n", "$-1\r\n", "*1\r\n:1\r\n"}) {
      EXPECT_FALSE(fits(counts, wrong)) << counts << wrong;
    }
  }
  EXPECT_TRUE(fits("SET", "+OK\r\n"));
  EXPECT_TRUE(fits("SET", "$-1\r\n"));
  EXPECT_FALSE(fits("SET", ":0\r\n")) << "no grant is made of this";
  EXPECT_FALSE(fits("SET", "*0\r\n"));
  for (const char* reads : {"GET", "GETSET"}) {
    EXPECT_TRUE(fits(reads, "$1\r\nx\r\n"));
    EXPECT_TRUE(fits(reads, "$-1\r\n"));
    EXPECT_FALSE(fits(reads, ":1\r\n"));
  }
  EXPECT_TRUE(fits("INFO", ":1\r\n")) << "whoever asks looks";
}

TEST(answers, of_scripts_are_numbers) {
  for (const char* runs : {"EVAL", "EVALSHA"}) {
    for (const char* right : {":1\r\n", "$-1\r\n", "*2\r\n:-1\r\n:7\r\n", "*0\r\n"}) {
      EXPECT_TRUE(fits(runs, right)) << right;
    }
    for (const char* wrong :
         {"+OK\r\n", "$1\r\n1\r\n", "*2\r\n:1\r\n$1\r\n1\r\n", "*1\r\n*0\r\n"}) {
      EXPECT_FALSE(fits(runs, wrong)) << wrong;
    }
  }
}

TEST(answers, are_shown_in_a_few_words) {
  EXPECT_EQ(describe(answer(":-7\r\n")), "the number -7");
  EXPECT_EQ(describe(answer("+OK\r\n")), "the status 'OK'");
  EXPECT_EQ(describe(answer("$3\r\na\nb\r\n")), "the text 'a b'");
  EXPECT_EQ(describe(answer("*2\r\n:1\r\n:2\r\n")), "a list of 2");
  EXPECT_EQ(describe(answer("$-1\r\n")), "nil");
  EXPECT_EQ(excerpt(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(excerpt(std::string(201, 'x')), std::string(200, 'x') + "...");
}

}  // namespace
}  // namespace lockmark::redis
