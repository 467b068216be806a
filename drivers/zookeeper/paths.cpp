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

// Behind the last one that comes before `mine`.
place behind_the_last(const std::vector<std::string>& children, std::string_view mine,
                      sequence_of sequence) {
  place found;
  const std::string* before = nullptr;
  for (const auto& child : children) {
    if (child == mine) found.listed = true;
    if (!comes_before(child, mine, sequence)) continue;
    if (before == nullptr || comes_before(*before, child, sequence)) before = &child;
  }
  if (before != nullptr) found.behind = *before;
  return found;
}

place in_mutex_queue(const std::vector<std::string>& children, std::string_view mine) {
  return behind_the_last(children, mine, mutex_sequence);
}

place as_writer(const std::vector<std::string>& children, std::string_view mine) {
  return behind_the_last(children, mine, read_write_sequence);
}

// Behind the first writer, if it comes before `mine`.
place as_reader(const std::vector<std::string>& children, std::string_view mine) {
  place found;
  const std::string* first = nullptr;
  for (const auto& child : children) {
    if (child == mine) found.listed = true;
    if (child.find(writer_name) == std::string::npos) continue;
    if (!comes_before(child, mine, read_write_sequence)) continue;
    if (first == nullptr || comes_before(child, *first, read_write_sequence)) first = &child;
  }
  if (first != nullptr) found.behind = *first;
  return found;
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

std::string protection_prefix(std::string_view uuid) {
  return fmt::format("_c_{}-", uuid);
}

std::string uuid_source::next() {
  const std::uint64_t high = (next_word() & ~0xF000ULL) | 0x4000ULL;
  const std::uint64_t low = (next_word() & ~(3ULL << 62U)) | (2ULL << 62U);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xFFFFU,
                     high & 0xFFFFU, low >> 48U, low & 0xFFFFFFFFFFFFULL);
}

std::uint64_t uuid_source::next_word() {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

}  // namespace lockmark::zookeeper
