// A server's answer to a statement, and the only access to the cells of its rows. An answer whose
// shape does not fit the statement is not a lock's outcome: no MySQL server gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/mysql/servers.hpp"
#include "harness/outcome.hpp"

namespace lockmark::mysql {

// Memory limit for the rows of one answer, in bytes.
inline constexpr std::size_t rows_limit = std::size_t{4} << 20;

class row;

// How a statement ended: done, refused by the server with an error, or unknown.
struct answer {
  std::optional<doubt> unknown;  // set: the connection is gone, and nothing below means anything
  unsigned error = 0;            // the server's error number; 0: done
  std::string text;              // the server's words for the error
  std::uint64_t affected = 0;    // rows changed
  std::string asked;             // the statement
  const endpoint* from = nullptr;

  bool done() const { return !unknown && error == 0; }

  std::size_t rows() const { return columns_ == 0 ? 0 : cells_.size() / columns_; }
  bool empty() const { return cells_.empty(); }

  // A row of exactly `columns` cells. Throws no_server if the answer has no such row.
  row at(std::size_t index, std::size_t columns) const;
  // A row with any number of cells: for statements that select all columns.
  row at(std::size_t index) const;

  // Adds a row; null cells are null pointers. False: it would exceed the limit.
  bool add(const char* const* cells, const unsigned long* lengths, std::size_t columns);

  // Throws no_server: answered `what` where `expected` was expected.
  [[noreturn]] void refuse(std::string_view what, std::string_view expected) const;

 private:
  friend class row;
  struct cell {
    static constexpr std::uint32_t null = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t begin = 0;
    std::uint32_t length = null;
  };
  std::size_t columns_ = 0;
  std::vector<cell> cells_;  // row by row
  std::string bytes_;
};

// One row of an answer. The answer must outlive it.
class row {
 public:
  row(const answer& of, std::size_t index) : of_(&of), first_(index * of.columns_) {}

  std::size_t cells() const { return of_->columns_; }
  // No value: NULL. REQUIRES: column < cells().
  std::optional<std::string_view> cell(std::size_t column) const;
  // Both throw no_server if the cell is NULL; number() also if it is not a whole number.
  std::string_view text(std::size_t column) const;
  std::uint64_t number(std::size_t column) const;

  // Throws no_server: this cell is not what was expected.
  [[noreturn]] void refuse(std::size_t column, std::string_view expected) const;

 private:
  const answer* of_;
  std::size_t first_;
};

// The whole text as a number; no value if it is anything else.
std::optional<std::uint64_t> whole_number(std::string_view text);

// Text for error sentences: one line, no control characters, shortened.
std::string quotable(std::string_view text, std::size_t longest = 80);

}  // namespace lockmark::mysql
