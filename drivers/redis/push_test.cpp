// The messages that a subscriber may receive, without a server.
#include <gtest/gtest.h>

#include "drivers/redis/replies.hpp"

namespace lockmark::redis {
namespace {

// Nothing, "subscribed c", "unsubscribed c" or "c: text".
std::string read(std::string_view resp, bool sharded = false) {
  reply_parser parser;
  parser.feed(resp);
  reply r;
  EXPECT_EQ(parser.next(r), reply_parser::state::whole) << resp;
  const auto p = parse_push(r, sharded);
  if (!p) return "nothing";
  if (p->what == push::kind::message) return std::string{p->channel} + ": " + std::string{p->text};
  const bool on = p->what == push::kind::subscribed;
  return (on ? "subscribed " : "unsubscribed ") + std::string{p->channel};
}

TEST(pushes, are_of_three_kinds) {
  EXPECT_EQ(read("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"), "subscribed c");
  EXPECT_EQ(read("*3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:0\r\n"), "unsubscribed c");
  EXPECT_EQ(read("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n"), "c: hi");
  EXPECT_EQ(read("*3\r\n$7\r\nmessage\r\n$0\r\n\r\n$0\r\n\r\n"), ": ");
}

// The names of sharded messages begin with an s.
TEST(pushes, have_other_names_where_they_are_sharded) {
  EXPECT_EQ(read("*3\r\n$10\r\nssubscribe\r\n$1\r\nc\r\n:1\r\n", true), "subscribed c");
  EXPECT_EQ(read("*3\r\n$12\r\nsunsubscribe\r\n$1\r\nc\r\n:0\r\n", true), "unsubscribed c");
  EXPECT_EQ(read("*3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n", true), "c: hi");
  EXPECT_EQ(read("*3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n"), "nothing");
  EXPECT_EQ(read("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n", true), "nothing");
}

// Any other reply is nothing, also one without a first letter to remove.
TEST(pushes, of_any_other_shape_are_none) {
  for (const char* wrong :
       {"+OK\r\n", ":1\r\n", "$-1\r\n", "*0\r\n", "*2\r\n$7\r\nmessage\r\n$1\r\nc\r\n",
        "*4\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n$1\r\ny\r\n",
        "*3\r\n$0\r\n\r\n$1\r\nc\r\n$1\r\nx\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n",
        "*3\r\n$7\r\nmessage\r\n:1\r\n$1\r\nx\r\n", "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n:1\r\n",
        "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n$1\r\n1\r\n", "*3\r\n*0\r\n*0\r\n*0\r\n",
        "*3\r\n$1\r\ns\r\n$1\r\nc\r\n$1\r\nx\r\n"}) {
    for (const bool sharded : {false, true}) EXPECT_EQ(read(wrong, sharded), "nothing") << wrong;
  }
}

}  // namespace
}  // namespace lockmark::redis
