#include "drivers/mysql/durability.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockmark::mysql {
namespace {

// Empty: not told.
std::string setting(const description& said, std::string_view name) {
  const auto it = std::ranges::find(said, name, &description::value_type::first);
  return it == said.end() ? "" : it->second;
}

}  // namespace

std::string durability_of(const description& said) {
  const std::string flushed = setting(said, "server.innodb_flush_log_at_trx_commit");
  const std::string logs = setting(said, "server.log_bin");
  const std::string synced = setting(said, "server.sync_binlog");
  if (flushed.empty() || logs.empty()) return "";
  if (flushed != "1") return "all but 1 s";
  const bool has_log = logs == "ON" || logs == "1";
  if (!has_log || synced == "1") return "each commit";
  if (synced.empty()) return "";
  if (synced == "0") return "as the kernel writes";
  return fmt::format("all but {} commits", synced);
}

}  // namespace lockmark::mysql
