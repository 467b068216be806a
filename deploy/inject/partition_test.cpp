#include "deploy/inject/partition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockmark::inject {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Each of five servers reaches every other; link 4 * from + n leads to the n-th other server.
std::vector<link_ends> all_pairs() {
  std::vector<link_ends> links;
  for (const char* from : {"a", "b", "c", "d", "e"}) {
    for (const char* to : {"a", "b", "c", "d", "e"}) {
      if (std::string_view{from} != to) links.push_back({from, to});
    }
  }
  return links;
}

// Both directions across the border, and nothing within either side.
TEST(partition, takes_the_links_across_its_border_only) {
  const auto links = all_pairs();
  const auto taken = links_across(links, {"a", "d"});
  EXPECT_EQ(taken.size(), 2U * 2U * 3U);
  for (const std::size_t n : taken) {
    const bool from_inside = links[n].from == "a" || links[n].from == "d";
    const bool to_inside = links[n].to == "a" || links[n].to == "d";
    EXPECT_NE(from_inside, to_inside) << links[n].from << " to " << links[n].to;
  }
}

TEST(partition, is_the_same_from_either_side) {
  EXPECT_EQ(links_across(all_pairs(), {"a", "d"}), links_across(all_pairs(), {"b", "c", "e"}));
  EXPECT_THAT(links_across(all_pairs(), {"a", "b", "c", "d", "e"}), IsEmpty());
}

// A client in the minority keeps its links there and loses all others; those outside only lose
// their links to the minority.
TEST(partition, has_clients_on_one_of_its_sides) {
  const std::vector<link_ends> links{{"p1", "a"}, {"p1", "b"}, {"p2", "a"}, {"p2", "b"}};
  EXPECT_THAT(links_across(links, {"a", "p1"}), ElementsAre(1, 2));
  EXPECT_THAT(links_across(links, {"a"}), ElementsAre(0, 2));
}

TEST(partition, of_a_pair_takes_both_directions_of_every_port) {
  const std::vector<link_ends> links{{"a", "b"}, {"a", "b"}, {"b", "a"}, {"a", "c"}, {"c", "b"}};
  EXPECT_THAT(links_joining(links, "b", "a"), ElementsAre(0, 1, 2));
  EXPECT_THAT(links_joining(links, "b", "d"), IsEmpty());
}

}  // namespace
}  // namespace lockmark::inject
