#include "drivers/zookeeper/paths.hpp"

#include <fmt/format.h>

#include <charconv>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {
namespace {

constexpr std::string_view scheme = "zookeeper://";
constexpr std::uint16_t default_port = 2181;

[[noreturn]] void reject(std::string_view url, std::string_view why) {
  throw usage_error(
      fmt::format("target '{}': {}; expected zookeeper://host[:port],.../chroot", url, why));
}

std::uint16_t parse_port(std::string_view url, std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0)
    reject(url, fmt::format("'{}' is not a port", text));
  return port;
}

std::pair<std::string, std::uint16_t> parse_host(std::string_view url, std::string_view text) {
  // An IPv6 address stands in brackets, because it has colons of its own.
  const auto bracket = text.rfind(']');
  const auto colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const auto host = text.substr(0, colon);
  if (host.empty()) reject(url, "a host is empty");
  if (colon == std::string_view::npos) return {std::string(host), default_port};
  return {std::string(host), parse_port(url, text.substr(colon + 1))};
}

std::string parse_chroot(std::string_view url, std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  if (text.find("//") != std::string_view::npos) reject(url, "the chroot has an empty part");
  return std::string(text);
}

}  // namespace

std::string target::host_list() const {
  std::string list;
  for (const auto& [host, port] : hosts)
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", host, port);
  return list;
}

target parse_target(std::string_view url) {
  if (!url.starts_with(scheme)) reject(url, "not a ZooKeeper URL");
  std::string_view rest = url.substr(scheme.size());
  target parsed;
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    parsed.chroot = parse_chroot(url, rest.substr(slash));
    rest = rest.substr(0, slash);
  }
  if (rest.find('@') != std::string_view::npos)
    throw usage_error("target zookeeper://...: a user and password are not supported");
  while (true) {
    const auto comma = rest.find(',');
    parsed.hosts.push_back(parse_host(url, rest.substr(0, comma)));
    if (comma == std::string_view::npos) return parsed;
    rest = rest.substr(comma + 1);
  }
}

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

std::string_view sequence_of(std::string_view child) {
  constexpr std::string_view lock_name = "lock-";
  const auto found = child.rfind(lock_name);
  return found == std::string_view::npos ? child : child.substr(found + lock_name.size());
}

place find_place(const std::vector<std::string>& children, std::string_view mine) {
  place found;
  const auto my_sequence = sequence_of(mine);
  const std::string* before = nullptr;
  for (const auto& child : children) {
    if (child == mine) found.listed = true;
    if (sequence_of(child) >= my_sequence) continue;
    if (before == nullptr || sequence_of(*before) < sequence_of(child)) before = &child;
  }
  if (before != nullptr) found.predecessor = *before;
  return found;
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
