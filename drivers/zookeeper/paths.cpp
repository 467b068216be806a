#include "drivers/zookeeper/paths.hpp"

#include <fmt/format.h>

namespace lockmark::zookeeper {
namespace {

constexpr std::string_view mutex_name = "lock-";
constexpr std::string_view reader_name = "__READ__";
constexpr std::string_view writer_name = "__WRIT__";

// The text after the last `lock_name`, or all of it if there is none.
std::string_view behind_name(std::string_view child, std::string_view lock_name) {
  const auto found = child.rfind(lock_name);
  return found == std::string_view::npos ? child : child.substr(found + lock_name.size());
}

std::string_view mutex_sequence(std::string_view child) {
  return behind_name(child, mutex_name);
}

std::string_view read_write_sequence(std::string_view child) {
  return behind_name(behind_name(child, reader_name), writer_name);
}

using sequence_of = std::string_view (*)(std::string_view child);

// No server assigns a sequence twice, but anybody who may create nodes can. Then the names decide;
// otherwise there would be two holders.
bool comes_before(std::string_view one, std::string_view other, sequence_of sequence) {
  const auto its_sequence = sequence(one);
  const auto others = sequence(other);
  return its_sequence != others ? its_sequence < others : one < other;
}

enum class behind : std::uint8_t { last, first_writer };

// Behind the last child, or the first writer, of those that come before `mine`.
place find_place(const std::vector<std::string>& children, std::string_view mine,
                 sequence_of sequence, behind which) {
  place found;
  const std::string* chosen = nullptr;
  for (const auto& child : children) {
    if (child == mine) found.listed = true;
    const bool counts = which == behind::last || child.find(writer_name) != std::string::npos;
    if (!counts || !comes_before(child, mine, sequence)) continue;
    const bool is_later = chosen != nullptr && comes_before(*chosen, child, sequence);
    if (chosen == nullptr || is_later == (which == behind::last)) chosen = &child;
  }
  if (chosen != nullptr) found.behind = *chosen;
  return found;
}

place in_mutex_queue(const std::vector<std::string>& children, std::string_view mine) {
  return find_place(children, mine, mutex_sequence, behind::last);
}

place as_writer(const std::vector<std::string>& children, std::string_view mine) {
  return find_place(children, mine, read_write_sequence, behind::last);
}

place as_reader(const std::vector<std::string>& children, std::string_view mine) {
  return find_place(children, mine, read_write_sequence, behind::first_writer);
}

}  // namespace

const queue_kind mutex_queue{mutex_name, in_mutex_queue};
const queue_kind writer_queue{writer_name, as_writer};
const queue_kind reader_queue{reader_name, as_reader};

std::vector<std::string> with_ancestors(std::string_view path) {
  std::vector<std::string> all;
  for (auto slash = path.find('/', 1); slash != std::string_view::npos;
       slash = path.find('/', slash + 1))
    all.emplace_back(path.substr(0, slash));
  all.emplace_back(path);
  return all;
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string number_in(std::string_view path) {
  constexpr std::size_t digits = 10;
  return std::string{path.substr(path.size() - std::min(path.size(), digits))};
}

std::string protection_prefix(std::string_view uuid) {
  return fmt::format("_c_{}-", uuid);
}

std::string uuid_source::next() {
  const std::uint64_t high = (random_() & ~0xF000ULL) | 0x4000ULL;
  const std::uint64_t low = (random_() & ~(3ULL << 62U)) | (2ULL << 62U);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xFFFFU,
                     high & 0xFFFFU, low >> 48U, low & 0xFFFFFFFFFFFFULL);
}

}  // namespace lockmark::zookeeper
