// Any cells as the answer to a statement: a row's values are read as they are, or the server is
// refused. The first byte is the number of columns; each cell's first byte is its length.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include "drivers/mysql/answer.hpp"
#include "harness/driver.hpp"

namespace {

using namespace lockmark;
using namespace lockmark::mysql;

constexpr std::uint8_t null = 255;

template <class Read>
bool refused(Read read) {
  try {
    read();
    return false;
  } catch (const no_server& why) {
    assert(std::string_view{why.what()}.size() < 400);
    return true;
  }
}

// Refusals are exceptions, which are slow under sanitizers: one per row is enough.
void check_row(const row& r) {
  bool seen = false;
  for (std::size_t column = 0; column < r.cells(); ++column) {
    const auto said = r.cell(column);
    const auto number = said ? whole_number(*said) : std::nullopt;
    if (number || !std::exchange(seen, true)) {
      assert(refused([&] { assert(r.text(column) == *said); }) == !said);
      assert(refused([&] { assert(r.number(column) == *number); }) == !number);
    }
    assert(!number || said->find_first_not_of("0123456789") == said->npos);
    if (said) assert(quotable(*said).size() <= 83);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const endpoint somewhere{.host = "h", .user = "u", .password = "p", .database = "d"};
  if (size == 0) return 0;
  const std::size_t columns = 1 + data[0] % 4;
  answer a;
  a.asked = "SELECT 1";
  a.from = &somewhere;
  std::vector<const char*> cells;
  std::vector<unsigned long> lengths;
  for (std::size_t at = 1; at < size;) {
    const std::size_t given = std::min<std::size_t>(data[at], size - at - 1);
    const std::size_t length = data[at] == null ? 0 : given;
    cells.push_back(data[at] == null ? nullptr : reinterpret_cast<const char*>(data + at + 1));
    lengths.push_back(length);
    at += 1 + length;
    if (cells.size() < columns) continue;
    assert(a.add(cells.data(), lengths.data(), columns));
    cells.clear();
    lengths.clear();
  }
  for (std::size_t i = 0; i < a.rows(); ++i) check_row(a.at(i, columns));
  if (a.rows() == 1) assert(refused([&] { a.at(a.rows()); }));
  if (a.rows() == 2) assert(refused([&] { a.at(0, columns + 1); }));
  return 0;
}
