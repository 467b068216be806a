#include "drivers/zookeeper/paths.hpp"

#include <gmock/gmock.h>

namespace lockmark::zookeeper {
namespace {

using testing::ElementsAre;

constexpr const char* uuid_a = "_c_00000000-0000-4000-8000-00000000000a-lock-";
constexpr const char* uuid_b = "_c_ffffffff-0000-4000-8000-00000000000b-lock-";

std::string child(const char* prefix, const char* sequence) {
  return std::string(prefix) + sequence;
}

// Every parent comes before its child.
TEST(paths, ancestors) {
  EXPECT_THAT(with_ancestors("/a/b/c"), ElementsAre("/a", "/a/b", "/a/b/c"));
  EXPECT_EQ(base_name("/a/b/c"), "c");
}

// Only the sequence counts, not the random prefix before it.
TEST(mutex_queue, order_ignores_the_prefix) {
  const auto first = child(uuid_b, "0000000007");
  const auto second = child(uuid_a, "0000000008");
  const std::vector<std::string> children{second, first};
  EXPECT_EQ(mutex_queue.find(children, first).behind, std::nullopt);
  EXPECT_EQ(mutex_queue.find(children, second).behind, first);
}

// The predecessor is the nearest node before it, not the head of the queue.
TEST(mutex_queue, nearest_predecessor) {
  const std::vector<std::string> children{child(uuid_a, "0000000003"), child(uuid_b, "0000000001"),
                                          child(uuid_a, "0000000009"), child(uuid_b, "0000000002")};
  EXPECT_EQ(mutex_queue.find(children, children[2]).behind, children[0]);
}

// A node that is not among the children has lost its place.
TEST(mutex_queue, missing) {
  EXPECT_FALSE(mutex_queue.find({child(uuid_a, "0000000003")}, child(uuid_b, "0000000001")).listed);
}

// Sequences overflow to negative numbers; like Curator, they compare as text.
TEST(mutex_queue, overflow_sorts_as_curator_does) {
  const auto last = child(uuid_a, "2147483647");
  const auto overflown = child(uuid_a, "-2147483648");
  const auto next = child(uuid_a, "-2147483647");
  const std::vector<std::string> children{last, overflown, next};
  EXPECT_EQ(mutex_queue.find(children, next).behind, std::nullopt);
  EXPECT_EQ(mutex_queue.find(children, overflown).behind, next);
  EXPECT_EQ(mutex_queue.find(children, last).behind, overflown);
}

// The last "lock-" counts; a name without one sorts as a whole.
TEST(mutex_queue, names) {
  const std::vector<std::string> children{"lock-lock-0000000001", "0000000000"};
  EXPECT_EQ(mutex_queue.find(children, children[0]).behind, children[1]);
  EXPECT_EQ(mutex_queue.find(children, children[1]).behind, std::nullopt);
}

// No server assigns a sequence twice; even so there is only one holder.
TEST(mutex_queue, equal_sequences) {
  const std::vector<std::string> children{"_c_b-lock-0000000001", "_c_a-lock-0000000001"};
  EXPECT_EQ(mutex_queue.find(children, children[0]).behind, children[1]);
  EXPECT_EQ(mutex_queue.find(children, children[1]).behind, std::nullopt);
  const std::string reader = "_c_f-__READ__0000000001";
  const std::string writer = "_c_a-__WRIT__0000000001";
  EXPECT_EQ(reader_queue.find({reader, writer}, reader).behind, writer);
  EXPECT_EQ(writer_queue.find({reader, writer}, writer).behind, std::nullopt);
}

const std::string reader_1 = "_c_f-__READ__0000000001";
const std::string writer_2 = "_c_a-__WRIT__0000000002";
const std::string reader_3 = "_c_e-__READ__0000000003";
const std::string writer_4 = "_c_b-__WRIT__0000000004";
const std::string reader_5 = "_c_d-__READ__0000000005";
const std::vector<std::string> readers_and_writers{reader_5, writer_4, reader_3, writer_2,
                                                   reader_1};

// A reader waits for the first writer before it, however many nodes are between; others do not
// matter.
TEST(reader_queue, waits_for_the_first_writer) {
  const auto behind = [](const std::string& mine) {
    return reader_queue.find(readers_and_writers, mine).behind;
  };
  EXPECT_EQ(behind(reader_1), std::nullopt);
  EXPECT_EQ(behind(reader_3), writer_2);
  EXPECT_EQ(behind(reader_5), writer_2);
  EXPECT_FALSE(reader_queue.find({writer_2}, reader_1).listed);
}

// A writer waits for the node before it, reader or writer.
TEST(writer_queue, waits_for_the_one_before) {
  const auto behind = [](const std::string& mine) {
    return writer_queue.find(readers_and_writers, mine).behind;
  };
  EXPECT_EQ(behind(writer_2), reader_1);
  EXPECT_EQ(behind(writer_4), reader_3);
  EXPECT_EQ(writer_queue.find({writer_4, reader_5}, writer_4).behind, std::nullopt);
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
