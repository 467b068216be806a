// The SQL text of one run's table: names, quoting, creation, removal; and the run's advisory ids.
// Knows no connection.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::postgres {

// A string as an SQL literal with the same meaning under all settings of the server.
std::string literal(std::string_view text);

// An owner as stored in rows: "<instance>/<client>".
std::string owner_name(std::string_view instance, std::uint32_t client);

// The form of a lock's table.
struct layout {
  std::string_view suffix;  // names the lock: "for_update"
  std::string columns;      // besides `name`: ", taken_at timestamptz NOT NULL"
  // Whether each key's row exists from the start; otherwise the locks insert them.
  bool rows_first = true;
  // Whether a sequence grows with each grant, for a column `token`.
  bool has_tokens = false;
  // False: the lock has no table.
  bool exists = true;
};

// The table of one lock in one run.
class table {
 public:
  // Throws usage_error for names too long to store.
  table(const names& run, layout how);

  // "lockmark_<run>_<suffix>"
  const std::string& name() const { return name_; }
  std::string sequence() const { return name_ + "_token"; }
  bool exists() const { return layout_.exists; }

  // Statements that together create the table, with a row per key if the layout says so. Existing
  // rows stay unchanged.
  std::vector<std::string> create() const;
  // Statements that together remove what the run has created.
  std::vector<std::string> remove() const;

  // By request::key: the row's name.
  const std::string& key(std::uint32_t key) const { return keys_[key]; }

 private:
  layout layout_;
  std::string name_;
  std::vector<std::string> keys_;
};

// The number of a key's advisory lock: FNV-1a of "lockmark_<run>_<key>", 64 bits, finished by the
// mixer of MurmurHash3. The numbers belong to the whole database, and two names that share one
// exclude each other: of a million names in one database, two do with a probability of 3e-8.
std::int64_t advisory_id(std::string_view run, std::string_view key);

// By request::key, as text.
std::vector<std::string> advisory_ids(const names& run);

}  // namespace lockmark::postgres
