// Slots, the map of a cluster, redirections and Sentinel's answers, all without a server.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "drivers/redis/cluster_map.hpp"
#include "drivers/redis/replies.hpp"
#include "drivers/redis/slot.hpp"

namespace lockmark::redis {
namespace {

reply parsed(std::string_view resp) {
  reply_parser parser;
  parser.feed(resp);
  reply r;
  EXPECT_EQ(parser.next(r), reply_parser::state::whole);
  return r;
}

const host_port asked{"10.0.0.1", 6379};

// The specification's own check value, and slots as answered by CLUSTER KEYSLOT.
TEST(slots, are_those_of_the_specification) {
  EXPECT_EQ(crc16("123456789"), 0x31c3);
  EXPECT_EQ(crc16(""), 0);
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of("bar"), 5061);
}

// Only the text in the first braces counts, unless they are empty.
TEST(slots, hash_what_is_in_braces) {
  EXPECT_EQ(hashed_part("redisson_lock__channel:{lockmark:r:k}"), "lockmark:r:k");
  EXPECT_EQ(hashed_part("a{b}{c}"), "b");
  EXPECT_EQ(hashed_part("a{}{c}"), "a{}{c}");
  EXPECT_EQ(hashed_part("a{{b}}"), "{b");
  EXPECT_EQ(hashed_part("a{b"), "a{b");
  EXPECT_EQ(hashed_part("a}b"), "a}b");
  EXPECT_EQ(slot_of("x{foo}y"), slot_of("foo"));
}

constexpr std::string_view two_masters =
    "*3\r\n"
    "*4\r\n:8192\r\n:16383\r\n*4\r\n$8\r\n10.0.0.2\r\n:7002\r\n$2\r\nid\r\n*0\r\n"
    "*3\r\n$8\r\n10.0.0.9\r\n:7009\r\n$2\r\nid\r\n"
    "*3\r\n:0\r\n:99\r\n*3\r\n$8\r\n10.0.0.1\r\n:7001\r\n$2\r\nid\r\n"
    "*3\r\n:200\r\n:8191\r\n*3\r\n$8\r\n10.0.0.1\r\n:7001\r\n$2\r\nid\r\n";

// Ranges in any order, several of one master, and slots that nobody serves.
TEST(cluster_map, knows_the_master_of_a_slot) {
  cluster_map map;
  EXPECT_EQ(map.master_of(0), nullptr);
  ASSERT_TRUE(map.read(parsed(two_masters), asked));
  const host_port first{"10.0.0.1", 7001}, second{"10.0.0.2", 7002};
  EXPECT_EQ(*map.master_of(0), first);
  EXPECT_EQ(*map.master_of(99), first);
  EXPECT_EQ(map.master_of(100), nullptr);
  EXPECT_EQ(*map.master_of(200), first);
  EXPECT_EQ(*map.master_of(8192), second);
  EXPECT_EQ(*map.master_of(16383), second);
  EXPECT_EQ(map.masters(), (std::vector{second, first}));
}

// A node that does not know its own name says nil, "" or "?": its address is the one asked.
TEST(cluster_map, reads_a_missing_host_as_the_one_asked) {
  for (const std::string_view host : {"$-1", "$0\r\n", "$1\r\n?"}) {
    cluster_map map;
    const std::string slots =
        "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n" + std::string{host} + "\r\n:7001\r\n$2\r\nid\r\n";
    ASSERT_TRUE(map.read(parsed(slots), asked)) << host;
    EXPECT_EQ(*map.master_of(1), (host_port{"10.0.0.1", 7001}));
  }
}

// The addresses that nodes announce may be reached elsewhere.
TEST(cluster_map, translates_addresses) {
  cluster_map map;
  const host_port outside{"127.0.0.1", 9001};
  ASSERT_TRUE(map.read(parsed(two_masters), asked, {{{"10.0.0.1", 7001}, outside}}));
  EXPECT_EQ(*map.master_of(0), outside);
  EXPECT_EQ(*map.master_of(8192), (host_port{"10.0.0.2", 7002}));
}

// A map that gives a slot to two masters, or names no host, is refused; the previous one stays.
TEST(cluster_map, refuses_what_contradicts_itself) {
  const auto range = [](int first, int last, int port) {
    return fmt::format("*3\r\n:{}\r\n:{}\r\n*2\r\n$1\r\nh\r\n:{}\r\n", first, last, port);
  };
  cluster_map map;
  ASSERT_TRUE(map.read(parsed(two_masters), asked));
  for (const std::string& slots : {"*2\r\n" + range(0, 16383, 1) + range(100, 200, 2),
                                   "*2\r\n" + range(5, 5, 1) + range(5, 5, 1),
                                   "*2\r\n" + range(100, 200, 2) + range(0, 100, 1),
                                   std::string{"*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n:7\r\n:7001\r\n"},
                                   std::string{"*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n*0\r\n:7001\r\n"},
                                   std::string{"*1\r\n*3\r\n:0\r\n:1\r\n:7\r\n"},
                                   std::string{"*1\r\n*3\r\n:0\r\n:1\r\n*0\r\n"}}) {
    EXPECT_FALSE(map.read(parsed(slots), asked)) << slots;
    EXPECT_EQ(*map.master_of(0), (host_port{"10.0.0.1", 7001}));
  }
  EXPECT_TRUE(map.read(parsed("*2\r\n" + range(101, 200, 2) + range(0, 100, 1)), asked));
}

// A redirection holds until the map is read again; nonsense changes nothing.
TEST(cluster_map, learns_from_redirections) {
  cluster_map map;
  map.read(parsed(two_masters), asked);
  const host_port third{"10.0.0.3", 7003};
  map.move(5, third);
  map.move(5, third);
  EXPECT_EQ(*map.master_of(5), third);
  EXPECT_EQ(map.masters().size(), 3U);
  EXPECT_FALSE(map.read(parsed("-ERR This instance has cluster support disabled\r\n"), asked));
  EXPECT_FALSE(map.read(parsed("*0\r\n"), asked));
  EXPECT_FALSE(map.read(parsed("*1\r\n*2\r\n:0\r\n:1\r\n"), asked));
  EXPECT_FALSE(map.read(parsed("*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n"), asked));
  EXPECT_EQ(*map.master_of(5), third);
  map.read(parsed(two_masters), asked);
  EXPECT_EQ(*map.master_of(5), (host_port{"10.0.0.1", 7001}));
}

// Both kinds, IPv6, a missing host, and texts that are no redirection.
TEST(redirections, are_parsed) {
  const auto read = [](std::string_view text) { return parse_redirection(text, asked); };
  EXPECT_EQ(read("MOVED 3999 127.0.0.1:6381"),
            (redirection{redirection::kind::moved, 3999, {"127.0.0.1", 6381}}));
  EXPECT_EQ(read("ASK 0 h:1"), (redirection{redirection::kind::ask, 0, {"h", 1}}));
  EXPECT_EQ(read("MOVED 1 ::1:6381"), (redirection{redirection::kind::moved, 1, {"::1", 6381}}));
  EXPECT_EQ(read("MOVED 1 :6381"), (redirection{redirection::kind::moved, 1, {"10.0.0.1", 6381}}));
  for (const char* other : {"MOVED", "MOVED 1", "MOVED x h:1", "MOVED 16384 h:1", "MOVED 1 h:0",
                            "MOVED 1 h:99999", "ASKING 1 h:1", "ERR no", ""}) {
    EXPECT_EQ(read(other), std::nullopt) << other;
  }
}

// The answer for an unknown name is nil.
TEST(sentinel, tells_the_master) {
  EXPECT_EQ(parse_master_address(parsed("*2\r\n$9\r\n127.0.0.1\r\n$4\r\n6379\r\n")),
            (host_port{"127.0.0.1", 6379}));
  EXPECT_EQ(parse_master_address(parsed("*-1\r\n")), std::nullopt);
  EXPECT_EQ(parse_master_address(parsed("-NOAUTH Authentication required.\r\n")), std::nullopt);
  for (const char* wrong :
       {"*2\r\n$1\r\nh\r\n$1\r\nx\r\n", "*0\r\n", "*1\r\n$1\r\nh\r\n", "$1\r\nh\r\n",
        "*2\r\n:1\r\n:2\r\n", "*2\r\n$1\r\nh\r\n$5\r\n99999\r\n", "*2\r\n$1\r\nh\r\n*0\r\n"}) {
    EXPECT_EQ(parse_master_address(parsed(wrong)), std::nullopt) << wrong;
  }
}

// ROLE, of a master and of a replica.
TEST(sentinel, tells_a_master_from_a_replica) {
  EXPECT_TRUE(is_master(parsed("*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n")));
  EXPECT_FALSE(
      is_master(parsed("*5\r\n$5\r\nslave\r\n$1\r\nh\r\n:1\r\n$9\r\nconnected\r\n:3\r\n")));
  EXPECT_FALSE(is_master(parsed("-NOPERM this user has no permissions\r\n")));
  EXPECT_FALSE(is_master(parsed("*0\r\n")));
  EXPECT_FALSE(is_master(parsed("*1\r\n:1\r\n")));
}

}  // namespace
}  // namespace lockmark::redis
