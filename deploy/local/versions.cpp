#include "deploy/local/versions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "deploy/local/error.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"
#include "harness/base/lists.hpp"

namespace lockmark::local {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view valkey = "valkey";

// Tools, and what is not of the server itself: the system's with every version.
constexpr std::array<std::string_view, 6> of_the_system{
    "coreutils", "util-linux", "dash", "openssl", "default-jre-headless", "pgbouncer"};

// "redis-cluster@8.0" is "redis", "-cluster", "8.0".
struct parts {
  std::string product, form, version;

  explicit parts(std::string_view name) {
    const std::size_t at = std::min(name.find('@'), name.size());
    if (at < name.size()) version = name.substr(at + 1);
    name = name.substr(0, at);
    const std::size_t end = std::min(name.find('-'), name.size());
    product = name.substr(0, end);
    form = name.substr(end);
  }
};

// Valkey has Redis's programs under its own name.
std::string own_name(std::string_view product, std::string_view program) {
  constexpr std::string_view redis = "redis-";
  if (product != valkey || !program.starts_with(redis)) return std::string(program);
  return fmt::format("{}-{}", valkey, program.substr(redis.size()));
}

std::vector<fs::path> program_folders(const fs::path& root) {
  std::vector<fs::path> all{root / "usr/bin", root / "usr/sbin"};
  std::error_code none;
  for (const auto& each : fs::directory_iterator(root / "usr/lib/postgresql", none)) {
    all.push_back(each.path() / "bin");
  }
  return all;
}

start_error incomplete(const server_version& which, std::string_view what) {
  return start_error(
      fmt::format("{} has no {}; remove its folder, and let deploy/servers {} fetch it again",
                  which.name(), what, which.name()));
}

// The look-ups of `where`, from now on in the folder of that version.
void look_in(const fs::path& root, const server_version& which, site& where) {
  where.program = [root, which, system = where.program](std::string_view name,
                                                        std::string_view package) {
    if (std::ranges::count(of_the_system, package) > 0) return system(name, package);
    const std::string own = own_name(which.product, name);
    for (const fs::path& folder : program_folders(root)) {
      const std::string program = (folder / own).string();
      if (access(program.c_str(), X_OK) == 0) return program;
    }
    throw incomplete(which, fmt::format("program {}", own));
  };
  where.needed_file = [root, which](std::string_view path, std::string_view) {
    std::string file = root.string() + std::string(path);
    if (access(file.c_str(), R_OK) == 0) return file;
    throw incomplete(which, fmt::format("file {}", path));
  };
}

server_version known_version(std::string_view name, const parts& wanted) {
  const std::vector<server_version> all = known_versions();
  const auto found = std::ranges::find_if(all, [&](const server_version& each) {
    return each.product == wanted.product && each.version == wanted.version;
  });
  if (found != all.end()) return *found;
  throw start_error(
      fmt::format("there is no version '{}' of a local topology; known are {}, which "
                  "deploy/servers VERSION fetches",
                  name, joined(all, &server_version::name)));
}

// Those of its protocol, under its own name. MySQL is another server than MariaDB, whose topologies
// have its name.
std::vector<topology> topologies_of(const server_version& which) {
  std::vector<topology> all;
  if (which.product == "mysql") {
    all.push_back({"mysql", "one MySQL with durable commits", single_mysql});
  } else {
    const std::string kind = kind_of(which.product);
    for (const topology& each : topologies()) {
      if (parts(each.name).product == kind) all.push_back(each);
    }
  }
  for (topology& each : all) {
    each.name = fmt::format("{}{}@{}", which.product, parts(each.name).form, which.version);
  }
  return all;
}

topology topology_of(std::string_view name, const server_version& which) {
  const std::vector<topology> all = topologies_of(which);
  const auto found = std::ranges::find(all, name, &topology::name);
  if (found != all.end()) return *found;
  throw start_error(fmt::format("there is no local topology '{}'; those of {} are {}", name,
                                which.name(), joined(all, &topology::name)));
}

}  // namespace

std::vector<server_version> known_versions() {
  std::vector<server_version> all;
  std::istringstream lines(filled("versions", json::object()));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    server_version one;
    if (!line.starts_with('#') && words >> one.product >> one.version) all.push_back(one);
  }
  return all;
}

std::string kind_of(std::string_view topology) {
  const parts named(topology);
  return (named.product == valkey ? "redis" : named.product) + named.form;
}

std::string of_version_under_test(std::string_view topology) {
  const char* version = std::getenv("LOCKMARK_VERSION");
  if (version == nullptr || *version == '\0') return std::string(topology);
  const parts wanted{std::string_view(version)};
  return fmt::format("{}{}@{}", wanted.product, parts(topology).form, wanted.version);
}

std::vector<std::string> of_kind_under_test(std::vector<std::string> topologies) {
  const char* version = std::getenv("LOCKMARK_VERSION");
  if (version == nullptr || *version == '\0') return topologies;
  const std::string kind = kind_of(version);
  std::erase_if(topologies, [&](const std::string& each) { return parts(each).product != kind; });
  return topologies;
}

fs::path servers_folder() {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  const fs::path beside = program.parent_path().parent_path().parent_path() / "servers";
  return fs::exists(beside / "lock", none) ? beside : fs::current_path(none) / "build/servers";
}

topology topology_of_version(std::string_view name, const fs::path& servers) {
  const parts wanted(name);
  const server_version which = known_version(name, wanted);
  topology found = topology_of(name, which);
  const fs::path root = servers / which.name();
  if (!fs::exists(root / "fetched")) {
    throw start_error(fmt::format("{0} is not in {1}: deploy/servers {0} fetches it", which.name(),
                                  servers.string()));
  }
  found.make = [root, which, make = found.make](site& where) {
    look_in(root, which, where);
    return make(where);
  };
  return found;
}

}  // namespace lockmark::local
