// One version of a server, the environment's LOCKMARK_VERSION, as `./check --versions` runs it:
// what reports say of it, and a short table of all locks on it. By itself, of the system's Redis.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "deploy/local/versions.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AnyOf;
using testing::StartsWith;

// "valkey@9.1"
std::string version() {
  const char* given = std::getenv("LOCKMARK_VERSION");
  return given == nullptr ? "redis" : given;
}

// "9.1", or nothing of the system's.
std::string number() {
  const auto at = version().find('@');
  return at == std::string::npos ? "" : version().substr(at + 1);
}

std::vector<std::string> locks_of(const std::string& topology, const fs::path& where) {
  std::vector<std::string> all;
  for (const json& lock : json::parse(run(where, {"list", "--format", "json"}).out)) {
    const auto on = lock.at("topologies").get<std::vector<std::string>>();
    const auto name = lock.at("lock").get<std::string>();
    if (std::ranges::count(on, topology) > 0 && !name.starts_with("exec/")) all.push_back(name);
  }
  std::ranges::sort(all);
  return all;
}

// The folder build/servers is looked for from the program's own place.
ended run_on_it(const fs::path& where, std::vector<std::string> words) {
  words.insert(words.end(), {"--on", fmt::format("local:{}", version()), "--quiet"});
  return run(where, words, 900s);
}

// How reports name it.
std::string product() {
  const std::map<std::string, std::string> all{
      {"redis", "Redis"}, {"valkey", "Valkey"}, {"zookeeper", "ZooKeeper"},
      {"etcd", "etcd"},   {"mysql", "MySQL"},   {"postgres", "PostgreSQL"}};
  return all.at(version().substr(0, version().find('@')));
}

// All locks of its topology run, none is violated, and the table names the version. Its file stays
// in build/versions to be read.
TEST(version_under_test, carries_every_lock) {
  const fs::path out = fs::absolute(fmt::format("build/versions/{}", version()));
  fs::remove_all(out);
  const scratch dir;
  const std::string topology = local::kind_of(version());
  const ended e =
      run_on_it(dir.path(), {"table", "--locks", fmt::format("{}/*", topology), "--repeats", "1",
                             "--scenarios", "contended", "--set", "stop.samples=200", "--set",
                             "stop.duration=2s", "--out", out.string(), "--format", "json"});
  // 3: the machine was too busy for valid figures.
  ASSERT_THAT(e.status, AnyOf(0, 3)) << e.err;
  std::vector<std::string> seen;
  for (const json& row : json::parse(e.out)) {
    seen.push_back(row.at("lock"));
    EXPECT_EQ(row.at("topology"), version());
    EXPECT_EQ(row.at("violations"), 0) << row.at("lock");
    EXPECT_GT(row.at("samples"), 0) << row.at("lock");
  }
  std::ranges::sort(seen);
  EXPECT_EQ(seen, locks_of(topology, dir.path()));
}

// A run's record has the server's own name and version.
TEST(version_under_test, is_named_in_the_record) {
  const scratch dir;
  const fs::path out = dir / "runs";
  const std::string lock = locks_of(local::kind_of(version()), dir.path()).at(0);
  const ended e =
      run_on_it(dir.path(), {"run", "uncontended", "--set", fmt::format("lock={}", lock), "--set",
                             "stop.duration=1s", "--out", out.string()});
  ASSERT_THAT(e.status, AnyOf(0, 3)) << e.err;
  const json server = read_json(only_folder(out) / "run.json").at("provenance").at("server");
  EXPECT_THAT(server.at("server.version").get<std::string>(), StartsWith(number()));
  // Two products that speak one protocol are flavours of it.
  const char* key = server.contains("server.name") ? "server.name" : "server.flavour";
  EXPECT_EQ(server.at(key), product());
}

}  // namespace
}  // namespace lockmark::cli
