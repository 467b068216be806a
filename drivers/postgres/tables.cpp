#include "drivers/postgres/tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace lockmark::postgres {
namespace {

constexpr std::size_t longest_identifier = 63;    // longer ones are cut without an error
constexpr std::size_t longest_key = 1000;         // a third of an index's page holds 2,704 bytes
constexpr std::size_t rows_per_statement = 1000;  // of some 100 bytes each

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view{"_-.:/{}"}.find(c) != std::string_view::npos;
}

}  // namespace

// The meaning of a backslash depends on standard_conforming_strings; that of hexadecimal digits
// does not.
std::string literal(std::string_view text) {
  if (std::ranges::all_of(text, is_plain)) return fmt::format("'{}'", text);
  std::string hex = "convert_from(decode('";
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  hex += "', 'hex'), 'UTF8')";
  return hex;
}

std::string owner_name(std::string_view instance, std::uint32_t client) {
  return fmt::format("{}/{}", instance, client);
}

table::table(const names& run, layout how)
    : layout_(std::move(how)),
      name_(fmt::format("lockmark_{}_{}", run.run, layout_.suffix)),
      keys_(run.keys) {
  const std::string longest = layout_.has_tokens ? sequence() : name_;
  if (longest.size() > longest_identifier || !std::ranges::all_of(name_, [](char c) {
        return c == '_' || std::islower(static_cast<unsigned char>(c)) != 0 ||
               std::isdigit(static_cast<unsigned char>(c)) != 0;
      })) {
    throw usage_error(
        "run name '{}': '{}' must be a table name of at most {} small letters and digits", run.run,
        longest, longest_identifier);
  }
  if (!layout_.exists) return;
  for (const std::string& key : keys_) {
    if (key.size() > longest_key) {
      throw usage_error("key '{}' has {} bytes; a row's name holds {}", key.substr(0, 40),
                        key.size(), longest_key);
    }
  }
}

// Keys that differ in anything are different keys: compared byte by byte.
std::vector<std::string> table::create() const {
  if (!layout_.exists) return {};
  std::vector<std::string> all = {
      fmt::format("CREATE TABLE IF NOT EXISTS {} (name text COLLATE \"C\" PRIMARY KEY{})", name_,
                  layout_.columns)};
  if (layout_.has_tokens) {
    all.push_back(
        fmt::format("CREATE SEQUENCE IF NOT EXISTS {} OWNED BY {}.token", sequence(), name_));
  }
  if (!layout_.rows_first) return all;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (i % rows_per_statement == 0) {
      if (i > 0) all.back() += " ON CONFLICT DO NOTHING";
      all.push_back(fmt::format("INSERT INTO {} (name) VALUES ", name_));
    } else {
      all.back() += ',';
    }
    all.back() += fmt::format("({})", literal(keys_[i]));
  }
  if (!keys_.empty()) all.back() += " ON CONFLICT DO NOTHING";
  return all;
}

// Its sequence goes with it.
std::vector<std::string> table::remove() const {
  if (!layout_.exists) return {};
  return {fmt::format("DROP TABLE IF EXISTS {}", name_)};
}

std::int64_t advisory_id(std::string_view run, std::string_view key) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  add("lockmark_");
  add(run);
  add("_");
  add(key);
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
  return static_cast<std::int64_t>(hash ^ (hash >> 33));
}

std::vector<std::string> advisory_ids(const names& run) {
  std::vector<std::string> all;
  all.reserve(run.keys.size());
  for (const std::string& key : run.keys) {
    all.push_back(fmt::format("{}", advisory_id(run.run, key)));
  }
  return all;
}

}  // namespace lockmark::postgres
