// The SQL text of one run's table: names, quoting, creation, removal. Knows no connection.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::mysql {

// A string as an SQL literal with the same meaning in every sql_mode.
std::string literal(std::string_view text);

// An owner as stored in rows: "<instance>/<client>".
std::string owner_name(std::string_view instance, std::uint32_t client);

// The form of a lock's table.
struct layout {
  std::string_view suffix;  // names the lock: "for_update"
  std::string columns;      // besides `name`: ", version BIGINT UNSIGNED NOT NULL DEFAULT 0"
  // Whether each key's row exists from the start; otherwise the locks insert them.
  bool rows_first = true;
  // Rows have a number as their primary key, and a unique key of their names beside it.
  bool numbered = false;
  // Binary: keys that differ only in case or trailing spaces are different keys, and a hexadecimal
  // literal finds its row by the index (without it, FOR UPDATE would lock every row).
  std::string name_type = "VARBINARY(191)";
  std::size_t longest_name = 191;
  // False: the lock has no table, and the table's name is only a prefix of its own names.
  bool exists = true;
  // Not empty: the name of a table shared with other programs, which may exist already and is kept.
  // Only the run's keys are removed from it.
  std::string shared_table{};
};

// The table of one lock in one run.
class table {
 public:
  // Throws usage_error for names too long to store.
  table(const names& run, layout how);

  // "`lockmark_<run>_<suffix>`"
  const std::string& name() const { return quoted_; }
  const std::string& bare_name() const { return bare_; }

  // Statements that together create the table, with a row per key if the layout says so. Existing
  // rows stay unchanged.
  std::vector<std::string> create() const;
  // Statements that together remove what the run has created.
  std::vector<std::string> remove() const;
  bool exists() const { return layout_.exists; }
  bool rows_first() const { return layout_.rows_first; }
  bool shared() const { return !layout_.shared_table.empty(); }

  // By request::key: " WHERE name='...'", and the literal alone.
  const std::string& where(std::uint32_t key) const { return where_[key]; }
  const std::string& key(std::uint32_t key) const { return keys_[key]; }
  std::uint32_t keys() const { return static_cast<std::uint32_t>(where_.size()); }

 private:
  std::vector<std::string> in_batches(const std::string& head, const std::string& tail) const;

  layout layout_;
  std::string bare_;
  std::string quoted_;
  std::vector<std::string> keys_;
  std::vector<std::string> where_;  // made once: acquire only joins the pieces
};

}  // namespace lockmark::mysql
