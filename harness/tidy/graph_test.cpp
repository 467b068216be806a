#include "harness/tidy/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockmark::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using parts = std::set<std::string>;

std::string includes(const std::string& what) {
  return "#include \"" + what + "\"\n";
}

// An include counts in the folder that contains both files, as a use between its parts.
TEST(include_graph, has_a_use_where_two_paths_part) {
  include_graph g;
  g.add("harness/run/worker.cpp", includes("harness/async/loop.hpp") + includes("drivers/a/a.hpp"));
  g.add("harness/run/worker.cpp", includes("harness/run/window.hpp") + "#include <vector>\n");
  EXPECT_THAT(g.folders().at(""), ElementsAre(Pair("harness", parts{"drivers", "vector"})));
  EXPECT_THAT(g.folders().at("harness/"), ElementsAre(Pair("run", parts{"async"})));
  EXPECT_THAT(g.folders().at("harness/run/"), ElementsAre(Pair("worker.cpp", parts{"window.hpp"})));
  g.add("harness/run/worker_test.cpp", includes("program/main.hpp"));
  EXPECT_FALSE(g.folders().at("").at("harness").contains("program"));
}

TEST(include_graph, finds_cycles) {
  EXPECT_THAT(cycles({{"a", {"b", "c"}}, {"b", {"c"}}}), IsEmpty());
  EXPECT_THAT(cycles({{"a", {"b"}}, {"b", {"c"}}, {"c", {"a", "d"}}, {"d", {}}}),
              ElementsAre(parts{"a", "b", "c"}));
  EXPECT_THAT(cycles({{"a", {"b"}}, {"b", {"a"}}, {"x", {"y"}}, {"y", {"x", "a"}}}),
              ElementsAre(parts{"a", "b"}, parts{"x", "y"}));
}

}  // namespace
}  // namespace lockmark::tidy
