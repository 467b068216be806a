#include "drivers/redis/resp.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <limits>
#include <utility>

#include "drivers/redis/script.hpp"

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

// An error is known by its whole first word.
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

// Bytes cut at any place give the same replies, and none of them early.
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

// A reply keeps nothing of the one before it.
TEST(resp, replies_do_not_mix) {
  reply_parser p;
  p.feed("*1\r\n$2\r\nab\r\n$-1\r\n");
  reply r;
  ASSERT_EQ(p.next(r), state::whole);
  ASSERT_EQ(p.next(r), state::whole);
  EXPECT_TRUE(r.is(kind::nil));
  EXPECT_TRUE(r.parts.empty());
}

// Anything but RESP is malformed, and a reset parser is as good as new.
TEST(resp, tells_what_is_not_resp) {
  reply_parser p;
  p.feed("HTTP/1.1 400 Bad Request\r\n");
  reply r;
  EXPECT_EQ(p.next(r), state::malformed);
  p.reset();
  p.feed("+OK\r\n");
  EXPECT_EQ(p.next(r), state::whole);
}

// The result of these pieces: the replies in words, and the ending.
std::string read_all(const std::vector<std::string_view>& pieces) {
  std::string seen;
  reply_parser p;
  state s = state::incomplete;
  const auto tell = [&seen](auto self, const reply& r) -> void {
    seen += fmt::format("{}:{}:{}(", static_cast<int>(r.what), r.number, r.text);
    for (const reply& part : r.parts) self(self, part);
    seen += ')';
  };
  for (const std::string_view piece : pieces) {
    p.feed(piece);
    for (reply r; (s = p.next(r)) == state::whole;) tell(tell, r);
  }
  return seen + fmt::format(" {}", static_cast<int>(s));
}

// Cut in two anywhere, or into single bytes, the result is the same, also for malformed input.
TEST(resp, does_not_depend_on_how_the_bytes_come) {
  for (const std::string_view bytes :
       {"*3\r\n:-7\r\n*2\r\n$3\r\na\r\n\r\n*0\r\n$-1\r\n+OK\r\n-E x\r\n*-1\r\n:+5\r\n$0\r\n\r\n",
        "+a\rb\nc\r\n:1\r\n", "*2\r\n+a\r\n%1\r\n", "+OK\r\n$3\r\nabcd\r\n", "$2\r\nab\rx",
        ":1\r\n*1\r\n$x\r\n", "*2\r\n:1\r\n$99999999\r\n", "*2\r\n*1\r\n+not yet"}) {
    const std::string whole = read_all({bytes});
    std::vector<std::string_view> each;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      EXPECT_EQ(read_all({bytes.substr(0, at), bytes.substr(at)}), whole) << bytes << " at " << at;
      each.push_back(bytes.substr(at, 1));
    }
    EXPECT_EQ(read_all(each), whole) << bytes;
  }
}

state state_after(std::string_view bytes) {
  reply_parser p;
  p.feed(bytes);
  reply r;
  return p.next(r);
}

// Invalid lengths, missing ends, and types of RESP3.
TEST(resp, is_strict) {
  for (const char* bytes : {":\r\n", ":1x\r\n", ":+-1\r\n", ":99999999999999999999\r\n", "$\r\n",
                            "$-2\r\n", "$1 \r\n", "*-2\r\n", "*x\r\n", "$3\r\nabcd\r\n",
                            "$3\r\nabc\n\r", "*1\r\n_\r\n", "#t\r\n", "\r\n", "%"}) {
    EXPECT_EQ(state_after(bytes), state::malformed) << bytes;
  }
}

// An announcement beyond the limits is refused at once, before its contents arrive.
TEST(resp, refuses_what_is_announced_beyond_the_limits) {
  const std::size_t most = reply_limits::size / sizeof(reply);
  std::string deep;
  for (std::size_t i = 0; i <= reply_limits::depth; ++i) deep += "*1\r\n";
  for (const std::string& bytes :
       {std::string{"*1048576\r\n"}, std::string{"*9223372036854775807\r\n"},
        std::string{"$2000000000\r\n"}, std::string{"$9223372036854775807\r\n"},
        fmt::format("*{}\r\n", most + 1), fmt::format("${}\r\n", reply_limits::size + 1),
        // Each is within the limits, both together are not.
        fmt::format("*{}\r\n*{}\r\n", most / 2 + 1, most / 2 + 1),
        fmt::format("*{}\r\n${}\r\n", most / 2 + 1, reply_limits::size / 2), deep}) {
    EXPECT_EQ(state_after(bytes), state::excessive) << bytes;
  }
  EXPECT_EQ(state_after(fmt::format("*{}\r\n", most)), state::incomplete);
  EXPECT_EQ(state_after(deep.substr(4)), state::incomplete);
}

// A line without an end is refused once it exceeds the limit of a line.
TEST(resp, refuses_a_line_without_an_end) {
  const std::string longest = "-" + std::string(reply_limits::line - 1, 'x');
  EXPECT_EQ(state_after(longest + "\r"), state::incomplete);
  EXPECT_EQ(state_after(longest + "\r\n"), state::whole);
  EXPECT_EQ(state_after(longest + "xx"), state::excessive);
  EXPECT_EQ(state_after(longest + "x\r\n"), state::excessive);
}

// The largest texts are accepted, one after the other: the limit is for each reply.
TEST(resp, takes_what_is_within_the_limits) {
  const std::string text(reply_limits::size, 'x');
  const std::string bytes = fmt::format("${}\r\n{}\r\n", text.size(), text);
  reply_parser p;
  for (int n = 0; n < 2; ++n) {
    p.feed(bytes);
    reply r;
    ASSERT_EQ(p.next(r), state::whole);
    EXPECT_EQ(r.text, text);
  }
}

// Allocated bytes. Sanitizers have a heap of their own, which this does not see.
std::size_t on_the_heap() {
  const auto all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

// Only bytes that have arrived take memory, however much is announced.
TEST(resp, allocates_nothing_ahead) {
  for (const std::string_view bytes : {"*100000\r\n", "*2\r\n$8000000\r\nabcdef",
                                       "*10000\r\n*10000\r\n*10000\r\n*10000\r\n:1\r\n"}) {
    reply_parser p;
    const std::size_t before = on_the_heap();
    p.feed(bytes);
    reply r;
    EXPECT_EQ(p.next(r), state::incomplete) << bytes;
    EXPECT_LT(on_the_heap(), before + 4096) << bytes;
  }
}

// Refused and forgotten input gives its memory back.
TEST(resp, gives_room_back) {
  const std::string half(reply_limits::size / 2, 'x');
  reply_parser p;
  reply r;
  const std::size_t before = on_the_heap();
  p.feed(fmt::format("*2\r\n${}\r\n", reply_limits::size - 2 * sizeof(reply)));
  for (std::size_t at = 0; at < half.size(); at += 2048) {
    p.feed(std::string_view{half}.substr(at, 2048));
    ASSERT_EQ(p.next(r), state::incomplete);
  }
  p.reset();
  EXPECT_LT(on_the_heap(), before + 65536);
}

// A failed parser accepts nothing until it is reset.
TEST(resp, stays_failed) {
  reply_parser p;
  reply r;
  p.feed("*1048576\r\n");
  EXPECT_EQ(p.next(r), state::excessive);
  p.feed("+OK\r\n");
  EXPECT_EQ(p.next(r), state::excessive);
  p.reset();
  p.feed("+OK\r\n");
  EXPECT_EQ(p.next(r), state::whole);
}

// The name is the SHA-1 of the text, as in the answer to `SCRIPT LOAD "return 1"`.
TEST(script, is_named_by_its_sha1) {
  EXPECT_EQ(script{"return 1"}.sha1, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

// The fallback is the same command with the text in place of the name.
TEST(script, falls_back_to_its_text) {
  const script s{"return 1"};
  std::string evalsha;
  append_evalsha(evalsha, s, 1, "key", 7);
  std::string eval;
  append_command(eval, "EVAL", "return 1", 1, "key", 7);
  EXPECT_EQ(as_eval(evalsha, s), eval);
}

}  // namespace
}  // namespace lockmark::redis
