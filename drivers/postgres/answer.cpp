#include "drivers/postgres/answer.hpp"

#include <fmt/core.h>
#include <libpq-fe.h>

#include <charconv>

#include "harness/driver.hpp"

namespace lockmark::postgres {

void clear_result::operator()(pg_result* r) const {
  PQclear(r);
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

std::string quotable(std::string_view text, std::size_t longest) {
  std::string shown{text.substr(0, longest)};
  for (char& c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) c = '.';
  }
  return text.size() > longest ? shown + "..." : shown;
}

std::uint64_t answer::affected() const {
  const std::string_view said = result_ ? PQcmdTuples(result_.get()) : "";
  const auto count = whole_number(said);
  if (!count) refuse("no count of rows", "one");
  return *count;
}

std::size_t answer::rows() const {
  return result_ ? static_cast<std::size_t>(PQntuples(result_.get())) : 0;
}

void answer::refuse(std::string_view what, std::string_view expected) const {
  throw no_server(fmt::format("{}: answered '{}' with {}, where {} was expected", from->shown(),
                              quotable(asked()), what, expected));
}

row answer::at(std::size_t index, std::size_t columns) const {
  if (index >= rows()) refuse(fmt::format("{} rows", rows()), fmt::format("row {}", index + 1));
  const auto got = static_cast<std::size_t>(PQnfields(result_.get()));
  if (got != columns) {
    refuse(fmt::format("rows of {} columns", got), fmt::format("a row of {}", columns));
  }
  return {*this, index};
}

std::optional<std::string_view> row::cell(std::size_t column) const {
  const pg_result* const r = of_->result_.get();
  const int at = static_cast<int>(column);
  if (PQgetisnull(r, index_, at) != 0) return std::nullopt;
  return std::string_view{PQgetvalue(r, index_, at),
                          static_cast<std::size_t>(PQgetlength(r, index_, at))};
}

void row::refuse(std::size_t column, std::string_view expected) const {
  const auto said = cell(column);
  of_->refuse(fmt::format("{} in column {}", said ? fmt::format("'{}'", quotable(*said)) : "NULL",
                          column + 1),
              expected);
}

std::string_view row::text(std::size_t column) const {
  const auto said = cell(column);
  if (!said) refuse(column, "a text");
  return *said;
}

std::uint64_t row::number(std::size_t column) const {
  const auto said = cell(column);
  const auto number = said ? whole_number(*said) : std::nullopt;
  if (!number) refuse(column, "a whole number");
  return *number;
}

bool row::truth(std::size_t column) const {
  const auto said = cell(column);
  if (said != "t" && said != "f") refuse(column, "t or f");
  return *said == "t";
}

}  // namespace lockmark::postgres
