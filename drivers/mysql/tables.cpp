#include "drivers/mysql/tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace lockmark::mysql {
namespace {

constexpr std::size_t longest_table_name = 64;  // of MySQL and MariaDB
constexpr std::size_t longest_key = 191;
constexpr std::size_t rows_per_insert = 1000;  // far below the smallest max_allowed_packet

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view{"_-.:/{}"}.find(c) != std::string_view::npos;
}

}  // namespace

// Whether a backslash escapes depends on the server's sql_mode; hexadecimal digits do not.
std::string literal(std::string_view text) {
  if (std::ranges::all_of(text, is_plain)) return fmt::format("'{}'", text);
  std::string hex = "X'";
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  hex += "'";
  return hex;
}

table::table(const names& run, std::string_view suffix, std::string columns)
    : bare_(fmt::format("lockmark_{}_{}", run.run, suffix)), columns_(std::move(columns)) {
  if (bare_.size() > longest_table_name || !std::ranges::all_of(bare_, [](char c) {
        return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
      })) {
    throw usage_error(
        fmt::format("run name '{}': '{}' must be a table name of at most {} letters "
                    "and digits",
                    run.run, bare_, longest_table_name));
  }
  quoted_ = fmt::format("`{}`", bare_);
  for (const std::string& key : run.keys) {
    if (key.size() > longest_key) {
      throw usage_error(fmt::format("key '{}' has {} bytes; a MySQL row's name holds {}", key,
                                    key.size(), longest_key));
    }
    rows_.push_back(fmt::format("({})", literal(key)));
    where_.push_back(" WHERE name=" + literal(key));
  }
}

// VARBINARY: keys that differ only in case or trailing spaces are different keys, and a hexadecimal
// literal finds its row by the index (without the index, FOR UPDATE would lock every row).
std::string table::create() const {
  return fmt::format(
      "CREATE TABLE IF NOT EXISTS {} (name VARBINARY({}) NOT NULL PRIMARY KEY{}) ENGINE=InnoDB",
      quoted_, longest_key, columns_);
}

std::vector<std::string> table::fill() const {
  std::vector<std::string> statements;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (i % rows_per_insert == 0) {
      statements.push_back(fmt::format("INSERT IGNORE INTO {} (name) VALUES ", quoted_));
    } else {
      statements.back() += ',';
    }
    statements.back() += rows_[i];
  }
  return statements;
}

std::string table::drop() const {
  return "DROP TABLE IF EXISTS " + quoted_;
}

}  // namespace lockmark::mysql
