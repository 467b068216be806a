#include "drivers/mysql/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace lockmark::mysql {
namespace {

// Plain names stay readable; anything else becomes digits that no sql_mode interprets.
TEST(tables, quotes_literals) {
  EXPECT_EQ(literal("k-1_a.b:c"), "'k-1_a.b:c'");
  EXPECT_EQ(literal("a'b\\"), "X'6127625c'");
  EXPECT_EQ(literal("\xc3\xa9"), "X'c3a9'");
  EXPECT_EQ(literal(""), "''");
}

// The statements that a run of two keys needs.
TEST(tables, writes_its_statements) {
  const table t{{.run = "r1", .keys = {"k0", "k'1"}},
                {.suffix = "for_update", .columns = ", v INT"}};
  EXPECT_EQ(t.name(), "`lockmark_r1_for_update`");
  EXPECT_EQ(t.create(),
            (std::vector<std::string>{
                "CREATE TABLE IF NOT EXISTS `lockmark_r1_for_update` "
                "(name VARBINARY(191) NOT NULL, v INT, PRIMARY KEY (name)) ENGINE=InnoDB",
                "INSERT IGNORE INTO `lockmark_r1_for_update` (name) VALUES ('k0'),(X'6b2731')"}));
  EXPECT_EQ(t.remove(),
            (std::vector<std::string>{"DROP TABLE IF EXISTS `lockmark_r1_for_update`"}));
  EXPECT_EQ(t.where(1), " WHERE name=X'6b2731'");
}

// A table like those that people have already, where the name is not the primary key.
TEST(tables, may_number_its_rows) {
  const table t{{.run = "r1", .keys = {"a"}},
                {.suffix = "x", .columns = ", v INT", .rows_first = false, .numbered = true}};
  EXPECT_EQ(t.create(),
            (std::vector<std::string>{
                "CREATE TABLE IF NOT EXISTS `lockmark_r1_x` (id BIGINT UNSIGNED NOT NULL "
                "AUTO_INCREMENT PRIMARY KEY, name VARBINARY(191) NOT NULL, v INT, "
                "UNIQUE KEY (name)) ENGINE=InnoDB"}));
}

// Many keys are inserted a thousand at a time, none left out.
TEST(tables, fills_in_batches) {
  names run{.run = "r", .keys = std::vector<std::string>(2500, "k")};
  const auto statements = table{run, {.suffix = "x", .columns = ""}}.create();
  ASSERT_EQ(statements.size(), 4U);
  std::size_t rows = 0;
  for (const auto& s : statements) rows += std::ranges::count(s, '(') - 1U;
  EXPECT_EQ(rows, 2500U + 2U);  // CREATE has three more
}

// A table shared with other programs keeps their rows and is never dropped.
TEST(tables, clears_only_its_rows_from_a_shared_table) {
  const table t{{.run = "r1", .keys = {"a", "b"}},
                {.suffix = "x", .columns = "", .rows_first = false, .shared_table = "shedlock"}};
  EXPECT_EQ(t.name(), "`shedlock`");
  EXPECT_EQ(t.create().size(), 1U);
  EXPECT_EQ(t.remove(),
            (std::vector<std::string>{"DELETE FROM `shedlock` WHERE name IN (('a'),('b'))"}));
}

// Names that the server would truncate or reject are refused before anything is sent.
TEST(tables, refuses_names_that_do_not_fit) {
  const layout any{.suffix = "for_update", .columns = ""};
  EXPECT_THROW(table({.run = std::string(60, 'r'), .keys = {}}, any), usage_error);
  EXPECT_THROW(table({.run = "r`", .keys = {}}, any), usage_error);
  EXPECT_THROW(table({.run = "r", .keys = {std::string(192, 'k')}}, any), usage_error);
}

}  // namespace
}  // namespace lockmark::mysql
