#include "drivers/redis/resp.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace lockmark::redis {
namespace {

using kind = reply::kind;
using state = reply_parser::state;

reply parse(std::string_view bytes) {
  reply_parser p;
  p.feed(bytes);
  reply r;
  EXPECT_EQ(p.next(r), state::whole);
  return r;
}

// A command is an array of bulk strings; numbers are written in decimal, bytes as they are.
TEST(resp, encodes_a_command) {
  std::string out;
  append_command(out, "SET", std::string{"k"}, std::string_view{"a\r\n\0b", 5}, "PX", 30000);
  using namespace std::string_literals;
  EXPECT_EQ(out, "*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\na\r\n\0b\r\n$2\r\nPX\r\n$5\r\n30000\r\n"s);
}

// Several commands follow each other in one buffer, and empty arguments are kept.
TEST(resp, appends_to_what_is_there) {
  std::string out;
  append_command(out, "PING");
  append_command(out, "ECHO", "");
  EXPECT_EQ(out, "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$0\r\n\r\n");
}

// The smallest and the largest number fit.
TEST(resp, encodes_extreme_numbers) {
  std::string out;
  append_command(out, std::numeric_limits<std::int64_t>::min(),
                 std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(out, "*2\r\n$20\r\n-9223372036854775808\r\n$20\r\n18446744073709551615\r\n");
}

// Each kind of reply.
TEST(resp, parses_each_kind) {
  EXPECT_TRUE(parse("+OK\r\n").is(kind::status));
  EXPECT_EQ(parse("+OK\r\n").text, "OK");
  EXPECT_EQ(parse(":-42\r\n").number, -42);
  EXPECT_TRUE(parse("$-1\r\n").is(kind::nil));
  EXPECT_TRUE(parse("*-1\r\n").is(kind::nil));
  EXPECT_EQ(parse("$5\r\nab\r\nc\r\n").text, "ab\r\nc");
  EXPECT_TRUE(parse("$0\r\n\r\n").is(kind::text));
  EXPECT_TRUE(parse("*0\r\n").is(kind::array));
}

// An error is known by its first word, the whole of it.
TEST(resp, knows_errors_by_their_word) {
  const reply r = parse("-NOSCRIPT No matching script.\r\n");
  EXPECT_TRUE(r.is_error("NOSCRIPT"));
  EXPECT_FALSE(r.is_error("NO"));
  EXPECT_FALSE(parse("+NOSCRIPT x\r\n").is_error("NOSCRIPT"));
}

// Arrays nest, and hold nils.
TEST(resp, parses_nested_arrays) {
  const reply r = parse("*3\r\n$7\r\nmessage\r\n*2\r\n:1\r\n$-1\r\n+x\r\n");
  ASSERT_EQ(r.parts.size(), 3U);
  EXPECT_EQ(r.parts[0].text, "message");
  ASSERT_EQ(r.parts[1].parts.size(), 2U);
  EXPECT_EQ(r.parts[1].parts[0].number, 1);
  EXPECT_TRUE(r.parts[1].parts[1].is(kind::nil));
  EXPECT_EQ(r.parts[2].text, "x");
}

// However the bytes are cut, the same replies come out, and none comes out early.
TEST(resp, parses_byte_by_byte) {
  const std::string_view bytes = "*2\r\n$3\r\nfoo\r\n:7\r\n+OK\r\n$-1\r\n";
  reply_parser p;
  std::vector<std::pair<std::size_t, reply>> seen;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    p.feed(bytes.substr(i, 1));
    reply r;
    if (p.next(r) == state::whole) seen.emplace_back(i, std::move(r));
  }
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].first, 16U);
  EXPECT_EQ(seen[0].second.parts[1].number, 7);
  EXPECT_EQ(seen[1].second.text, "OK");
  EXPECT_TRUE(seen[2].second.is(kind::nil));
}

// A reply does not keep anything of the one before it.
TEST(resp, replies_do_not_mix) {
  reply_parser p;
  p.feed("*1\r\n$2\r\nab\r\n$-1\r\n");
  reply r;
  ASSERT_EQ(p.next(r), state::whole);
  ASSERT_EQ(p.next(r), state::whole);
  EXPECT_TRUE(r.is(kind::nil));
  EXPECT_TRUE(r.parts.empty());
}

// What is not RESP is said to be malformed, and a reset parser is as new.
TEST(resp, tells_what_is_not_resp) {
  reply_parser p;
  p.feed("HTTP/1.1 400 Bad Request\r\n");
  reply r;
  EXPECT_EQ(p.next(r), state::malformed);
  p.reset();
  p.feed("+OK\r\n");
  EXPECT_EQ(p.next(r), state::whole);
}

}  // namespace
}  // namespace lockmark::redis
