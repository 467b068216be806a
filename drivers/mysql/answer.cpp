#include "drivers/mysql/answer.hpp"

#include <fmt/core.h>

#include <charconv>

#include "harness/driver.hpp"

namespace lockmark::mysql {

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

bool answer::add(const char* const* cells, const unsigned long* lengths, std::size_t columns) {
  columns_ = columns;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t length = cells[i] == nullptr ? 0 : lengths[i];
    const std::size_t cost = bytes_.size() + (cells_.size() + 1) * sizeof(cell);
    if (length > rows_limit || cost + length > rows_limit) return false;
    if (cells[i] == nullptr) {
      cells_.push_back({});
      continue;
    }
    cells_.push_back(
        {static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(length)});
    bytes_.append(cells[i], length);
  }
  return true;
}

void answer::refuse(std::string_view what, std::string_view expected) const {
  throw no_server(fmt::format("{}: answered '{}' with {}, where {} was expected", from->shown(),
                              quotable(asked), what, expected));
}

row answer::at(std::size_t index) const {
  if (index >= rows()) refuse(fmt::format("{} rows", rows()), fmt::format("row {}", index + 1));
  return {*this, index};
}

row answer::at(std::size_t index, std::size_t columns) const {
  const row found = at(index);
  if (columns_ != columns) {
    refuse(fmt::format("rows of {} columns", columns_), fmt::format("a row of {}", columns));
  }
  return found;
}

std::optional<std::string_view> row::cell(std::size_t column) const {
  const answer::cell& c = of_->cells_[first_ + column];
  if (c.length == answer::cell::null) return std::nullopt;
  return std::string_view{of_->bytes_}.substr(c.begin, c.length);
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

}  // namespace lockmark::mysql
