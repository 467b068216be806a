#include "program/next_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "harness/report/closing.hpp"
#include "workloads/fault_catalogue.hpp"

namespace lockmark::cli {
namespace {

// The program that a shell would start for the name; empty if none.
std::filesystem::path on_path(const char* name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code none;
    const auto file = std::filesystem::path(folder) / name;
    if (std::filesystem::is_regular_file(file, none)) return file;
  }
  return {};
}

bool can_be_paused(const context& c, const std::string& lock) {
  const auto& locks = c.known.locks();
  const auto its = std::ranges::find(locks, lock, &lock_kind::name);
  return its != locks.end() &&
         std::ranges::any_of(workloads::fault_catalogue(), [&](const workloads::scenario& s) {
           return s.name == "holder_paused" && workloads::concerns(s, lock, its->has);
         });
}

}  // namespace

std::string own_name(const context& c) {
  std::error_code none;
  const auto found = on_path("lockmark");
  if (!found.empty() && std::filesystem::equivalent(found, "/proc/self/exe", none)) {
    return "lockmark";
  }
  return c.arguments.empty() ? "lockmark" : c.arguments.front();
}

std::string next_command(const context& c, const std::vector<report::row>& rows,
                         const std::filesystem::path& out) {
  const auto failed = std::ranges::find_if(
      rows, [](const report::row& r) { return r["violations"].value.value_or(0) > 0; });
  if (failed != rows.end()) {
    return fmt::format("{} report {}", own_name(c), (out / failed->run).string());
  }
  const report::row* const best = report::best_of(rows);
  if (best == nullptr || !can_be_paused(c, best->lock)) return "";
  return fmt::format("{} faults holder_paused --locks '{}'", own_name(c), best->lock);
}

}  // namespace lockmark::cli
