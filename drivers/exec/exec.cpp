#include "drivers/exec/exec.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "drivers/exec/driver.hpp"
#include "harness/config/target.hpp"

namespace lockmark::exec {
namespace {

constexpr features redis_lock = feature::lease | feature::server_wait;

// The allowed values of an option, written "a, b, c".
template <const std::string_view& values>
bool one_of(std::string_view value) {
  std::string_view rest = values;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(", "), rest.size());
    if (rest.substr(0, end) == value) return true;
    rest.remove_prefix(std::min(rest.size(), end + 2));
  }
  return false;
}

constexpr std::string_view redisson_kinds = "lock, fair, spin, read, write, fenced, multi";
constexpr std::string_view curator_kinds =
    "mutex, semaphore_mutex, read, write, downgraded, semaphore";

constexpr std::string_view etcd_kinds = "mutex, read, write";
constexpr std::string_view kazoo_nodes = "curator, kazoo";

// Whether all of `text` is a whole number from 1 to `most`.
bool is_number(std::string_view text, std::uint32_t most) {
  std::uint32_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && end == text.data() + text.size() && n >= 1 && n <= most;
}

bool is_permits(std::string_view value) {
  return is_number(value, 1000);
}

bool is_seconds(std::string_view value) {
  return value.ends_with('s') && is_number(value.substr(0, value.size() - 1), 60);
}

bool is_table(std::string_view value) {
  return value.size() <= 64 &&
         value.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == value.npos;
}

// A server URL without a password: options are written into run folders.
bool is_open_url(std::string_view value) {
  if (value.empty()) return true;
  const auto t = config::parse_target(value);
  if (!t) return false;
  return t->password.empty() || t->query.contains("password-env") ||
         t->query.contains("password-file");
}

std::string option(const option_values& options, std::string_view name) {
  const auto found = options.find(name);
  return found == options.end() ? std::string{} : found->second;
}

std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  while (true) {
    const auto begin = command.find_first_not_of(' ');
    if (begin == command.npos) return words;
    command.remove_prefix(begin);
    const auto end = std::min(command.find(' '), command.size());
    words.emplace_back(command.substr(0, end));
    command.remove_prefix(end);
  }
}

// The schemes of targets, separated by blanks.
constexpr std::string_view redis_schemes =
    "redis rediss redis+sentinel rediss+sentinel redis+cluster rediss+cluster";
constexpr std::string_view master_schemes = "redis rediss redis+independent rediss+independent";
constexpr std::string_view postgres_schemes = "postgres postgresql";
constexpr std::string_view sql_schemes = "mysql mysql+galera postgres postgresql";
constexpr std::string_view every_scheme =
    "exec redis rediss redis+sentinel rediss+sentinel redis+cluster rediss+cluster zookeeper "
    "etcd redis+independent rediss+independent mysql mysql+galera postgres postgresql";

bool is_command(std::string_view value) {
  return value.empty() || static_cast<bool>(config::parse_target(fmt::format("exec:{}", value)));
}

// The features of an arbitrary program that lockmark checks, if announced.
constexpr features of_programs = feature::lease | feature::renewable | feature::fencing_token;

// Any program. Either the target is its command line and an option its server, or the other way
// round; the second form is for servers that lockmark starts or injects faults into.
std::unique_ptr<driver> make_any(const driver_setup& given) {
  driver_setup setup = given;
  auto command = config::parse_target(given.target);
  if (!command) throw usage_error(command.error().sentence);
  const std::string own = option(given.options, "command");
  const std::string server = option(given.options, "server");
  if (command->scheme == "exec") {
    if (!own.empty()) {
      throw usage_error("exec/lock: the target is its program already, and so is options.command");
    }
    if (!server.empty()) setup.target = server;
  } else {
    if (own.empty()) {
      throw usage_error(
          "exec/lock: which program? --set 'options.command=python3 my_lock.py', or "
          "--on 'exec:python3 my_lock.py' --set options.server=URL");
    }
    if (!server.empty()) {
      throw usage_error("exec/lock: the target is its server already, and so is options.server");
    }
    command = config::parse_target(fmt::format("exec:{}", own));
    if (!command) throw usage_error(command.error().sentence);
  }
  const std::string within = option(given.options, "hello_within");
  return make_driver(
      setup, {.lock = "exec/lock",
              .argv = words_of(command->path),
              .schemes = words_of(every_scheme),
              .has = {},
              .may_have = of_programs,
              .program = command->redacted(),
              .hello_within = std::chrono::seconds{within.empty() ? 5 : std::stoi(within)}});
}

// TLS settings that an adapter does not support must not be dropped silently.
void check_tls(const driver_setup& setup, const recipe& what, bool has_tls) {
  const auto server = config::parse_target(setup.target);
  if (!server || !server->tls.on) return;  // make_driver reports the error
  const config::tls_access& t = server->tls;
  if (!has_tls) throw usage_error("{}: its adapter has no TLS", what.lock);
  if (t.verify && t.ca.empty() && t.cert.empty() && t.server_name.empty()) return;
  throw usage_error(
      "{}: its adapter trusts whom the system trusts; ca, cert, verify and "
      "server-name cannot be passed on",
      what.lock);
}

// A real client, behind an adapter of deploy/interop.
struct real_client {
  std::string_view name;
  std::string_view schemes;
  bool has_tls;
};

constexpr real_client redisson_4{"redisson", redis_schemes, true};
constexpr real_client redisson_3{"redisson_3.52", redis_schemes, true};
constexpr real_client curator_5_9{"curator", "zookeeper", false};
constexpr real_client curator_5_4{"curator_5.4", "zookeeper", false};
constexpr real_client node_redlock{"node_redlock", master_schemes, true};
constexpr real_client redsync{"redsync", master_schemes, true};
constexpr real_client go_etcd{"etcd", "etcd", false};
constexpr real_client jdbc_shedlock{"shedlock", sql_schemes, false};
constexpr real_client go_pglock{"go_pglock", postgres_schemes, false};
constexpr real_client python_kazoo{"kazoo", "zookeeper", false};

template <const real_client& client>
std::unique_ptr<driver> make_real(const driver_setup& setup) {
  recipe what{.lock = fmt::format("exec/{}", client.name),
              .argv = {find_adapter(client.name)},
              .schemes = words_of(client.schemes),
              .has = {}};
  check_tls(setup, what, client.has_tls);
  return make_driver(setup, std::move(what));
}

// Any number of readers; for a semaphore, one holder per permit.
std::uint32_t holders_of(const option_values& options) {
  const std::string kind = option(options, "kind");
  if (kind == "read") return 0;
  if (kind != "semaphore") return 1;
  return static_cast<std::uint32_t>(std::stoul(option(options, "permits")));
}

lock_kind redisson(std::string_view name, std::string_view source, auto* make) {
  return {.name = name,
          .summary = "the real Redisson, in a Java process per instance",
          .has = redis_lock | feature::reentrant,
          .promises = safety::best_effort,
          .topologies = "redis redis-sentinel redis-cluster",
          .algorithm = source,
          .options = {{.name = "kind",
                       .values = redisson_kinds,
                       .preset = "lock",
                       .help = "which of its locks: RLock, fair, spin, one side of its "
                               "read-write lock, fenced (grants have tokens), or a multi lock",
                       .accepts = one_of<redisson_kinds>},
                      {.name = "parts",
                       .values = "1 to 1000",
                       .preset = "3",
                       .help = "of how many locks a multi lock is made",
                       .accepts = is_permits}},
          .make = make,
          .holders = holders_of};
}

lock_kind curator(std::string_view name, std::string_view source, auto* make) {
  return {.name = name,
          .summary = "the real Curator, in a Java process per instance",
          .has = feature::session_bound | feature::session_timeout | feature::server_wait,
          .promises = safety::session,
          .topologies = "zookeeper zookeeper-3 zookeeper-5",
          .algorithm = source,
          .options = {{.name = "kind",
                       .values = curator_kinds,
                       .preset = "mutex",
                       .help = "which of its recipes; read and write are the sides of its "
                               "read-write lock, downgraded is the read lock of who had both",
                       .accepts = one_of<curator_kinds>},
                      {.name = "permits",
                       .values = "1 to 1000",
                       .preset = "3",
                       .help = "how many may hold a semaphore at once",
                       .accepts = is_permits}},
          .make = make,
          .holders = holders_of};
}

lock_kind any_program() {
  return {.name = "exec/lock",
          .summary =
              "any program that speaks the line protocol of drivers/exec; its features are "
              "those that it names",
          .has = of_programs,
          .promises = safety::best_effort,
          .topologies =
              "exec redis redis-sentinel redis-cluster redis-independent zookeeper "
              "zookeeper-3 zookeeper-5 etcd etcd-3 etcd-5 mysql mysql-replicated mysql-galera "
              "postgres postgres-replicated postgres-pgbouncer",
          .algorithm = "the program's",
          .options = {{.name = "server",
                       .values = "a target URL, its password by ?password-env= or password-file=",
                       .preset = "",
                       .help = "the server that the program is told to use, where the target is "
                               "the program: --on 'exec:python3 my_lock.py'",
                       .accepts = is_open_url},
                      {.name = "command",
                       .values = "the program's command line",
                       .preset = "",
                       .help = "the program, where the target is its server: --on local:redis",
                       .accepts = is_command},
                      {.name = "hello_within",
                       .values = "1s to 60s",
                       .preset = "5s",
                       .help = "how long the program may take to start and to answer hello",
                       .accepts = is_seconds}},
          .make = make_any};
}

lock_kind polling_redlock(std::string_view name, std::string_view summary, std::string_view source,
                          auto* make) {
  return {.name = name,
          .summary = summary,
          .has = feature::lease | feature::renewable,
          .promises = safety::best_effort,
          .topologies = "redis redis-independent",
          .algorithm = source,
          .options = {},
          .make = make};
}

lock_kind shedlock() {
  return {.name = "exec/shedlock",
          .summary =
              "the real ShedLock with a JDBC provider (PostgreSQL: the one that asks the server "
              "for the time), in a Java process per instance",
          .has = feature::lease | feature::renewable,
          .promises = safety::best_effort,
          .topologies = "mysql mysql-replicated mysql-galera postgres postgres-replicated",
          .algorithm = "ShedLock 6.9",
          .options = {{.name = "table",
                       .values = "letters, digits and _; empty: that of our lock",
                       .preset = "",
                       .help = "the table, which is made if it is not there",
                       .accepts = is_table}},
          .make = make_real<jdbc_shedlock>};
}

lock_kind etcd_client() {
  return {.name = "exec/etcd",
          .summary = "etcd's own Go client, in a process per instance",
          .has = feature::session_bound | feature::session_timeout | feature::server_wait,
          .promises = safety::session,
          .topologies = "etcd etcd-3 etcd-5",
          .algorithm = "etcd's Go client 3.5",
          .options = {{.name = "kind",
                       .values = etcd_kinds,
                       .preset = "mutex",
                       .help = "concurrency.Mutex (grants have tokens), or a side of the recipe "
                               "RWMutex",
                       .accepts = one_of<etcd_kinds>}},
          .make = make_real<go_etcd>,
          .holders = holders_of};
}

lock_kind pglock() {
  return {.name = "exec/go_pglock",
          .summary = "the real go-pglock, in a Go process per instance",
          .has = feature::session_bound | feature::server_wait,
          .promises = safety::session,
          .topologies = "postgres",
          .algorithm = "go-pglock 3, with lib/pq",
          .options = {},
          .make = make_real<go_pglock>};
}

lock_kind kazoo() {
  return {.name = "exec/kazoo",
          .summary = "the real kazoo, in a Python process per instance",
          .has = feature::session_bound | feature::session_timeout | feature::server_wait,
          .promises = safety::session,
          .topologies = "zookeeper zookeeper-3 zookeeper-5",
          .algorithm = "kazoo 2, Lock with extra_lock_patterns for Curator's nodes",
          .options = {{.name = "nodes",
                       .values = kazoo_nodes,
                       .preset = "curator",
                       .help = "how its nodes are called; by their own name (kazoo), Curator and "
                               "zookeeper/sequential do not see them",
                       .accepts = one_of<kazoo_nodes>}},
          .make = make_real<python_kazoo>};
}

}  // namespace

std::vector<lock_kind> kinds() {
  return {
      any_program(),
      redisson("exec/redisson", "Redisson 4.7", make_real<redisson_4>),
      redisson("exec/redisson_3.52", "Redisson 3.52", make_real<redisson_3>),
      curator("exec/curator", "Curator 5.9", make_real<curator_5_9>),
      curator("exec/curator_5.4", "Curator 5.4", make_real<curator_5_4>),
      polling_redlock("exec/node_redlock", "the real node-redlock, in a process per instance",
                      "node-redlock 5.0.0-beta.2", make_real<node_redlock>),
      polling_redlock("exec/redsync", "the real redsync, in a Go process per instance",
                      "redsync 4, with go-redis", make_real<redsync>),
      etcd_client(),
      shedlock(),
      pglock(),
      kazoo(),
  };
}

std::string find_adapter(std::string_view client) {
  namespace fs = std::filesystem;
  fs::path folder;
  if (const char* given = std::getenv("LOCKMARK_INTEROP"); given != nullptr && *given != '\0') {
    folder = given;
  } else {
    // build/release/bin/lockmark -> build/interop
    std::error_code unknown;
    const fs::path self = fs::read_symlink("/proc/self/exe", unknown);
    folder = self.parent_path().parent_path().parent_path() / "interop";
  }
  const fs::path program = folder / client / "adapter";
  if (access(program.c_str(), X_OK) == 0) return program;
  throw usage_error(
      "exec/{} needs a client that is not built: in a clone of lockmark, run "
      "deploy/interop/build {}, or ./check --interop for all of them; an installed lockmark finds "
      "them by LOCKMARK_INTEROP, which is the clone's build/interop",
      client, client);
}

}  // namespace lockmark::exec
