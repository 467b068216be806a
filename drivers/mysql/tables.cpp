#include "drivers/mysql/tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace lockmark::mysql {
namespace {

constexpr std::size_t longest_table_name = 64;    // of MySQL and MariaDB
constexpr std::size_t rows_per_statement = 1000;  // far below the smallest max_allowed_packet

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view{"_-.:/{}"}.find(c) != std::string_view::npos;
}

}  // namespace

// The meaning of a backslash depends on the server's sql_mode; that of hexadecimal digits does not.
std::string literal(std::string_view text) {
  if (std::ranges::all_of(text, is_plain)) return fmt::format("'{}'", text);
  std::string hex = "X'";
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  hex += "'";
  return hex;
}

std::string owner_name(std::string_view instance, std::uint32_t client) {
  return fmt::format("{}/{}", instance, client);
}

table::table(const names& run, layout how)
    : layout_(std::move(how)),
      bare_(shared() ? layout_.shared_table
                     : fmt::format("lockmark_{}_{}", run.run, layout_.suffix)) {
  if (bare_.size() > longest_table_name || !std::ranges::all_of(bare_, [](char c) {
        return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
      })) {
    throw usage_error(
        "run name '{}': '{}' must be a table name of at most {} letters "
        "and digits",
        run.run, bare_, longest_table_name);
  }
  quoted_ = fmt::format("`{}`", bare_);
  if (!layout_.exists) return;
  for (const std::string& key : run.keys) {
    if (key.size() > layout_.longest_name) {
      throw usage_error("key '{}' has {} bytes; a row's name holds {}", key, key.size(),
                        layout_.longest_name);
    }
    keys_.push_back(literal(key));
    where_.push_back(fmt::format(" WHERE name={}", keys_.back()));
  }
}

std::vector<std::string> table::create() const {
  if (!layout_.exists) return {};
  const std::string_view number =
      layout_.numbered ? "id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, " : "";
  std::vector<std::string> all = {
      fmt::format("CREATE TABLE IF NOT EXISTS {} ({}name {} NOT NULL{}, {} KEY (name)) "
                  "ENGINE=InnoDB",
                  quoted_, number, layout_.name_type, layout_.columns,
                  layout_.numbered ? "UNIQUE" : "PRIMARY")};
  if (!layout_.rows_first) return all;
  const std::string insert = fmt::format("INSERT IGNORE INTO {} (name) VALUES ", quoted_);
  for (std::string& rows : in_batches(insert, "")) all.push_back(std::move(rows));
  return all;
}

std::vector<std::string> table::in_batches(const std::string& head, const std::string& tail) const {
  std::vector<std::string> statements;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (i % rows_per_statement == 0) {
      if (i > 0) statements.back() += tail;
      statements.push_back(head);
    } else {
      statements.back() += ',';
    }
    statements.back() += fmt::format("({})", keys_[i]);
  }
  if (!statements.empty()) statements.back() += tail;
  return statements;
}

std::vector<std::string> table::remove() const {
  if (!layout_.exists) return {};
  if (!shared()) return {fmt::format("DROP TABLE IF EXISTS {}", quoted_)};
  return in_batches(fmt::format("DELETE FROM {} WHERE name IN (", quoted_), ")");
}

}  // namespace lockmark::mysql
