// A server's answer to a statement, and the only access to the cells of its rows. An answer whose
// shape does not fit the statement is not a lock's outcome: no PostgreSQL server gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "drivers/postgres/servers.hpp"
#include "harness/outcome.hpp"

struct pg_result;  // the library's PGresult

namespace lockmark::postgres {

struct clear_result {
  void operator()(pg_result* r) const;
};
using result_handle = std::unique_ptr<pg_result, clear_result>;

class row;

// How a statement ended: done, refused by the server with an error, or unknown.
struct answer {
  std::optional<doubt> unknown;  // set: the connection is gone, and nothing below means anything
  std::string sqlstate;          // the server's five characters for an error; empty: done
  std::string text;              // the server's words for the error
  const endpoint* from = nullptr;

  bool done() const { return !unknown && sqlstate.empty(); }

  // The statement. Valid as long as the answer and the lock's statements.
  std::string_view asked() const { return own_text_.empty() ? statement_ : own_text_; }
  void set_asked(std::string_view lasting) { statement_ = lasting; }
  void own_asked(std::string text_of_it) { own_text_ = std::move(text_of_it); }

  void hold(result_handle r) { result_ = std::move(r); }

  // Rows changed. Throws no_server if the answer does not say.
  std::uint64_t affected() const;

  std::size_t rows() const;
  bool empty() const { return rows() == 0; }

  // A row of exactly `columns` cells. Throws no_server if the answer has no such row.
  row at(std::size_t index, std::size_t columns) const;

  // Throws no_server: answered `what` where `expected` was expected.
  [[noreturn]] void refuse(std::string_view what, std::string_view expected) const;

 private:
  friend class row;
  result_handle result_;
  std::string_view statement_;
  std::string own_text_;
};

// One row of an answer. The answer must outlive it.
class row {
 public:
  row(const answer& of, std::size_t index) : of_(&of), index_(static_cast<int>(index)) {}

  // No value: NULL. REQUIRES: the row has this column.
  std::optional<std::string_view> cell(std::size_t column) const;
  // All three throw no_server if the cell is NULL; number() also if it is not a whole number,
  // truth() if it is neither t nor f.
  std::string_view text(std::size_t column) const;
  std::uint64_t number(std::size_t column) const;
  bool truth(std::size_t column) const;

  // Throws no_server: this cell is not what was expected.
  [[noreturn]] void refuse(std::size_t column, std::string_view expected) const;

 private:
  const answer* of_;
  int index_;
};

// The whole text as a number; no value if it is anything else.
std::optional<std::uint64_t> whole_number(std::string_view text);

// Text for error sentences: one line, no control characters, shortened.
std::string quotable(std::string_view text, std::size_t longest = 80);

}  // namespace lockmark::postgres
