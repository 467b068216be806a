// The SQL text of one run's table: names, quoting, creation, removal. Knows no connection.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::mysql {

// A string as an SQL literal that no sql_mode reads differently.
std::string literal(std::string_view text);

// The table of one lock in one run: one row per key, made before the first acquire.
class table {
 public:
  // `suffix` names the lock ("for_update"), `columns` is what a row holds besides its name:
  // ", version BIGINT UNSIGNED NOT NULL DEFAULT 0". Throws usage_error for names too long to store.
  table(const names& run, std::string_view suffix, std::string columns);

  // "`lockmark_<run>_<suffix>`"
  const std::string& name() const { return quoted_; }
  const std::string& bare_name() const { return bare_; }

  std::string create() const;
  // Statements that together insert every key's row; rows that are there already stay as they are.
  std::vector<std::string> fill() const;
  std::string drop() const;
  // " WHERE name='...'" for request::key.
  const std::string& where(std::uint32_t key) const { return where_[key]; }
  std::uint32_t keys() const { return static_cast<std::uint32_t>(where_.size()); }

 private:
  std::string bare_;
  std::string quoted_;
  std::string columns_;
  std::vector<std::string> rows_;   // ('key')
  std::vector<std::string> where_;  // made once: acquire only puts the pieces together
};

}  // namespace lockmark::mysql
