#include "drivers/zookeeper/paths.hpp"

#include <gmock/gmock.h>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* uuid_a = "_c_00000000-0000-4000-8000-00000000000a-lock-";
constexpr const char* uuid_b = "_c_ffffffff-0000-4000-8000-00000000000b-lock-";

std::string child(const char* prefix, const char* sequence) {
  return std::string(prefix) + sequence;
}

// Hosts without a port use 2181; no path means no chroot.
TEST(target, hosts_and_default_port) {
  const auto t = parse_target("zookeeper://a,b:2182,[::1]:2183");
  EXPECT_THAT(t.hosts, ElementsAre(Pair("a", 2181), Pair("b", 2182), Pair("[::1]", 2183)));
  EXPECT_EQ(t.chroot, "");
  EXPECT_EQ(t.host_list(), "a:2181,b:2182,[::1]:2183");
}

// The path is the chroot, without its last slash.
TEST(target, chroot) {
  EXPECT_EQ(parse_target("zookeeper://a/x/y/").chroot, "/x/y");
  EXPECT_EQ(parse_target("zookeeper://a/").chroot, "");
}

// A mistake is named, with what was expected.
TEST(target, mistakes) {
  const auto complaint = [](const char* url) -> std::string {
    try {
      parse_target(url);
    } catch (const usage_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(complaint("redis://a"), HasSubstr("expected zookeeper://host"));
  EXPECT_THAT(complaint("zookeeper://a:99999"), HasSubstr("'99999' is not a port"));
  EXPECT_THAT(complaint("zookeeper://a,,b"), HasSubstr("a host is empty"));
  EXPECT_THAT(complaint("zookeeper://a/x//y"), HasSubstr("empty part"));
  EXPECT_THAT(complaint("zookeeper://u:secret@a"), Not(HasSubstr("secret")));
}

// Every parent comes before its child.
TEST(paths, ancestors) {
  EXPECT_THAT(with_ancestors("/a/b/c"), ElementsAre("/a", "/a/b", "/a/b/c"));
  EXPECT_EQ(base_name("/a/b/c"), "c");
}

// Only the sequence counts, not the random prefix before it.
TEST(queue, order_ignores_the_prefix) {
  const auto first = child(uuid_b, "0000000007");
  const auto second = child(uuid_a, "0000000008");
  const std::vector<std::string> children{second, first};
  EXPECT_EQ(find_place(children, first).predecessor, std::nullopt);
  EXPECT_EQ(find_place(children, second).predecessor, first);
}

// The predecessor is the nearest before, not the head of the queue.
TEST(queue, nearest_predecessor) {
  const std::vector<std::string> children{child(uuid_a, "0000000003"), child(uuid_b, "0000000001"),
                                          child(uuid_a, "0000000009"), child(uuid_b, "0000000002")};
  EXPECT_EQ(find_place(children, children[2]).predecessor, children[0]);
}

// A node that is not among the children has lost its place.
TEST(queue, missing) {
  EXPECT_FALSE(find_place({child(uuid_a, "0000000003")}, child(uuid_b, "0000000001")).listed);
}

// Sequences overflow to negative numbers; like Curator, they compare as text.
TEST(queue, overflow_sorts_as_curator_does) {
  const auto last = child(uuid_a, "2147483647");
  const auto overflown = child(uuid_a, "-2147483648");
  const auto next = child(uuid_a, "-2147483647");
  const std::vector<std::string> children{last, overflown, next};
  EXPECT_EQ(find_place(children, next).predecessor, std::nullopt);
  EXPECT_EQ(find_place(children, overflown).predecessor, next);
  EXPECT_EQ(find_place(children, last).predecessor, overflown);
}

// The last "lock-" counts; a name without one sorts as a whole.
TEST(queue, sequence) {
  EXPECT_EQ(sequence_of("lock-lock-0000000001"), "0000000001");
  EXPECT_EQ(sequence_of("other"), "other");
}

// UUIDs are of version 4, in lower case, and differ.
TEST(uuid, form) {
  uuid_source source{42};
  const auto a = source.next();
  EXPECT_THAT(a, testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                       "[0-9a-f]{12}"));
  EXPECT_NE(a, source.next());
  EXPECT_EQ(protection_prefix("x"), "_c_x-");
}

}  // namespace
}  // namespace lockmark::zookeeper
