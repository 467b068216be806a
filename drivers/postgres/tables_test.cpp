#include "drivers/postgres/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lockmark::postgres {
namespace {

// Plain names stay readable; anything else becomes digits that no setting interprets.
TEST(tables, quotes_literals) {
  EXPECT_EQ(literal("k-1_a.b:c"), "'k-1_a.b:c'");
  EXPECT_EQ(literal("a'b\\"), "convert_from(decode('6127625c', 'hex'), 'UTF8')");
  EXPECT_EQ(literal("\xc3\xa9"), "convert_from(decode('c3a9', 'hex'), 'UTF8')");
  EXPECT_EQ(literal(""), "''");
}

// The statements that a run of two keys needs.
TEST(tables, writes_its_statements) {
  const table t{{.run = "r1", .keys = {"k0", "k'1"}},
                {.suffix = "for_update", .columns = ", v integer"}};
  EXPECT_EQ(t.name(), "lockmark_r1_for_update");
  EXPECT_EQ(t.create(),
            (std::vector<std::string>{
                "CREATE TABLE IF NOT EXISTS lockmark_r1_for_update "
                "(name text COLLATE \"C\" PRIMARY KEY, v integer)",
                "INSERT INTO lockmark_r1_for_update (name) VALUES ('k0'),"
                "(convert_from(decode('6b2731', 'hex'), 'UTF8')) ON CONFLICT DO NOTHING"}));
  EXPECT_EQ(t.remove(), std::vector<std::string>{"DROP TABLE IF EXISTS lockmark_r1_for_update"});
  EXPECT_EQ(t.key(1), "k'1");
}

// The sequence of a table's tokens belongs to it, and goes with it.
TEST(tables, has_a_sequence_for_tokens) {
  const table t{{.run = "r", .keys = {"k"}},
                {.suffix = "x", .columns = "", .rows_first = false, .has_tokens = true}};
  ASSERT_EQ(t.create().size(), 2U);
  EXPECT_EQ(t.create()[1],
            "CREATE SEQUENCE IF NOT EXISTS lockmark_r_x_token OWNED BY lockmark_r_x.token");
  EXPECT_EQ(t.remove().size(), 1U);
}

// Many keys are inserted a thousand at a time, none left out.
TEST(tables, fills_in_batches) {
  names run{.run = "r", .keys = std::vector<std::string>(2500, "k")};
  const auto statements = table{run, {.suffix = "x", .columns = ""}}.create();
  ASSERT_EQ(statements.size(), 4U);
  std::size_t rows = 0;
  for (const auto& s : statements) {
    rows += static_cast<std::size_t>(std::ranges::count(s, '(')) - 1U;
    EXPECT_EQ(s.starts_with("INSERT"), s.ends_with(" ON CONFLICT DO NOTHING"));
  }
  EXPECT_EQ(rows, 2500U);
}

// Names that the server would truncate or fold are refused before anything is sent.
TEST(tables, refuses_names_that_do_not_fit) {
  const layout any{.suffix = "for_update", .columns = ""};
  EXPECT_THROW(table({.run = std::string(60, 'r'), .keys = {}}, any), usage_error);
  EXPECT_THROW(table({.run = "r\"", .keys = {}}, any), usage_error);
  EXPECT_THROW(table({.run = "Run", .keys = {}}, any), usage_error);
  EXPECT_THROW(table({.run = "r", .keys = {std::string(1001, 'k')}}, any), usage_error);
}

// Keys and runs that differ in anything get other numbers, spread over all 64 bits.
TEST(advisory_ids, tell_keys_apart) {
  std::set<std::int64_t> seen;
  std::uint64_t ones = 0, all = ~std::uint64_t{0};
  for (int n = 0; n < 10'000; ++n) {
    const std::int64_t id = advisory_id("run", "k" + std::to_string(n));
    EXPECT_TRUE(seen.insert(id).second);
    ones |= static_cast<std::uint64_t>(id);
    all &= static_cast<std::uint64_t>(id);
  }
  EXPECT_EQ(ones, ~std::uint64_t{0});
  EXPECT_EQ(all, 0U);
  EXPECT_NE(advisory_id("run", "k0"), advisory_id("run2", "k0"));
  EXPECT_EQ(advisory_ids({.run = "run", .keys = {"k0"}})[0],
            std::to_string(advisory_id("run", "k0")));
}

}  // namespace
}  // namespace lockmark::postgres
