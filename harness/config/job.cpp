#include "harness/config/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "harness/config/redaction.hpp"

namespace lockmark::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t most_clients = 1'000'000;

// An error about one key of a job whose values are each valid on their own.
struct misfit {
  std::string key;
  std::string sentence;
};

// Names of real clients contain their version: exec/redisson_3.52.
bool is_name(std::string_view text) {
  return !text.empty() && text.front() != '.' && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
}

// At least two names separated by slashes; a wrapper may prepend its own.
bool is_lock_name(std::string_view text) {
  bool has_slash = false;
  for (;;) {
    const auto slash = text.find('/');
    if (!is_name(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return has_slash;
    has_slash = true;
    text.remove_prefix(slash + 1);
  }
}

std::optional<misfit> find_name_misfit(const job& j) {
  if (!j.lock.empty() && !is_lock_name(j.lock)) {
    return misfit{"lock", expected("a lock such as redis/lua", j.lock).sentence};
  }
  if (!is_name(j.workload)) {
    return misfit{"workload", expected("a workload such as auto or mutex", j.workload).sentence};
  }
  return std::nullopt;
}

std::optional<misfit> find_load_misfit(const job& j) {
  const std::string loop = text_form<loop_kind>::print(j.loop);
  const bool partly_open = j.loop == loop_kind::partly_open;
  if (j.arrives_by_rate() && !j.rate) {
    return misfit{"load.rate", fmt::format("is needed by load.loop {}, such as 200/s", loop)};
  }
  if (!j.arrives_by_rate() && j.rate) {
    return misfit{"load.rate", "means nothing to load.loop closed, whose clients set the pace"};
  }
  if (partly_open && j.cycles == 0) {
    return misfit{"load.cycles", "is needed by load.loop partly_open: the attempts of a session"};
  }
  if (!partly_open && j.cycles != 0) {
    return misfit{"load.cycles", fmt::format("is for load.loop partly_open only, not {}", loop)};
  }
  if (j.arrives_by_rate() && !partly_open && !j.think.always_zero()) {
    return misfit{"load.think",
                  fmt::format("is for load.loop closed or partly_open only, not {}", loop)};
  }
  if (j.participants > j.instances) {
    return misfit{"participants",
                  fmt::format("{} are more than the {} of load.instances that live in them",
                              j.participants, j.instances)};
  }
  if (j.participants > 0 && j.threads > 0) {
    return misfit{"load.threads", "means nothing to participants, which have one thread each"};
  }
  if (j.rtt_jitter > 0ns && j.rtt == 0ns) {
    return misfit{"rtt_jitter", "comes on top of rtt, which is 0s"};
  }
  if (j.clients_in_all() > most_clients) {
    return misfit{"load.clients",
                  fmt::format("times load.instances makes {} clients; at most {} are allowed",
                              j.clients_in_all(), most_clients)};
  }
  return std::nullopt;
}

std::optional<misfit> find_stop_misfit(const job& j) {
  if (j.stop_samples == 0 && j.stop_owner_changes == 0 && j.stop_duration == 0ns) {
    return misfit{"stop",
                  "needs stop.samples, stop.owner_changes or stop.duration, or the run has no end"};
  }
  if (j.stop_duration > j.stop_at_most) {
    return misfit{"stop.at_most",
                  fmt::format("of {} is shorter than stop.duration of {}",
                              print_duration(j.stop_at_most), print_duration(j.stop_duration))};
  }
  return std::nullopt;
}

std::optional<misfit> find_misfit(const job& j) {
  if (auto found = find_name_misfit(j)) return found;
  if (auto found = find_load_misfit(j)) return found;
  if (auto found = find_stop_misfit(j)) return found;
  if (auto found = find_fault_problem(j.faults)) return misfit{found->key, found->sentence};
  return std::nullopt;
}

// "key" -> where it was last set, in the form that begins an error: "file:12: " or "--set ".
using places = std::map<std::string, std::string, std::less<>>;

constexpr const char* assigned = "--set ";

// Where a key was set; for a missing key, where another key of the same fault was set.
std::string place_of(const places& where, const std::string& key, const std::string& file) {
  const auto place = where.find(key);
  if (place != where.end()) return place->second;
  const std::string group = key.substr(0, key.rfind('.') + 1);
  const auto beside = where.lower_bound(group);
  const bool is_beside =
      group.starts_with("faults.") && beside != where.end() && beside->first.starts_with(group);
  return is_beside ? beside->second : fmt::format("{}: ", file);
}

// Built once: every key of every job is looked up in it.
const option_table<job>& the_options() {
  static const option_table<job> all = job_options();
  return all;
}

void read_file_into(job& target, places& where, const std::string& yaml, const std::string& file) {
  for (const setting& given : read_settings(yaml, file)) {
    const std::string place = fmt::format("{}:{}: ", file, given.line);
    if (const auto wrong = apply(the_options(), target, given)) {
      throw config_error(fmt::format("{}{}: {}", place, given.key, wrong->sentence));
    }
    where[given.key] = place;
  }
}

// Returns the key that was set.
std::string apply_assignment(job& target, std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw config_error(
        fmt::format("--set: {}", expected("KEY=VALUE", redacted_argument(assignment)).sentence));
  }
  if (const auto wrong = key_problem(assignment.substr(0, equals))) {
    throw config_error(fmt::format("--set: {}", wrong->sentence));
  }
  const setting given{std::string{assignment.substr(0, equals)},
                      std::string{assignment.substr(equals + 1)}, setting::form::text, 0};
  if (const auto wrong = apply(the_options(), target, given)) {
    throw config_error(fmt::format("--set {}: {}", given.key, wrong->sentence));
  }
  return given.key;
}

}  // namespace

// clang-format off
option_table<job> job_options() {
  return {
    declare("lock", &job::lock, "", "as backend/algorithm; may be left to --set lock=..."),
    declare("workload", &job::workload, "auto",
            "what clients do; auto: mutex for locks, commit for optimistic locks"),
    declare_group("options", &job::options, "options of the chosen lock, checked by its driver"),
    declare("load.loop", &job::loop, "closed",
            "attempts begin when the last ends, at a constant rate, at random, or in sessions"),
    declare("load.instances", &job::instances, "1", {1, 100'000}, "simulated processes"),
    declare("load.clients", &job::clients, "1", {1, 100'000}, "simulated threads of each instance"),
    declare("load.threads", &job::threads, "0", {0, 1'024}, "worker threads; 0: one per core"),
    declare("load.rate", &job::rate, "none",
            "attempts (partly_open: sessions) per time, of all clients together"),
    declare("load.cycles", &job::cycles, "0", {0, 1'000'000},
            "attempts of each session of a partly_open loop"),
    declare("load.think", &job::think, "0s",
            "pause of a client between its attempts, in closed and partly_open loops"),
    declare("load.backlog", &job::backlog, "10000", {0, 100'000'000},
            "due attempts that may wait for a free client; more are dropped and counted"),
    declare("participants", &job::participants, "0", {0, 1'000},
            "processes that the instances live in and can die with; 0: threads of one"),
    declare("keys", &job::keys, "one", "which key an attempt wants"),
    declare("hold", &job::hold, "0s", "time from grant to the start of the release"),
    declare("holder", &job::holder, "careless",
            "careful holders end their work when the lease may be over or the session is lost"),
    declare("wait", &job::wait, "1s", {1ns, 24h}, "acquire timeout"),
    declare("lease", &job::lease, "30s", {1ms, 24h}, "how long the server keeps a lock by itself"),
    declare("renew", &job::renew, "false", "renew every third of the lease while holding"),
    declare("retry", &job::retry, "jittered(1ms, 20ms)", "pause between tries of a polling lock"),
    declare("reentrancy", &job::reentrancy, "1", {1, 100}, "times a holder acquires its lock"),
    declare("read_share", &job::read_share, "0", {0.0, 1.0},
            "share of the attempts that are readers', of a lock that readers may hold together"),
    declare("rtt", &job::rtt, "0s", {0s, 10s},
            "added to each round trip between clients and servers, by proxies on this machine"),
    declare("rtt_jitter", &job::rtt_jitter, "0s", {0s, 10s},
            "up to so much more for each round trip, drawn anew for each message"),
    declare("session_timeout", &job::session_timeout, "10s", {1ms, 24h},
            "after this silence ZooKeeper takes a client for dead"),
    declare("guard", &job::guard, "none",
            "a register beside the servers, which each holder reads first and writes last"),
    declare("warmup", &job::warmup, "1s", {0s, 24h}, "load before the measurement begins"),
    declare("stop.samples", &job::stop_samples, "0", {0, 1'000'000'000'000},
            "the measurement ends after this many attempts, if the other stops are reached, too"),
    declare("stop.owner_changes", &job::stop_owner_changes, "0", {0, 1'000'000'000'000},
            "the same for how often a key went from one client to another: chances to go wrong"),
    declare("stop.duration", &job::stop_duration, "0s", {0s, longest_duration},
            "the same for its time; of all three, 0 does not matter"),
    declare("stop.at_most", &job::stop_at_most, "10m", {1ms, longest_duration},
            "the measurement ends after this time in any case"),
    declare("command_timeout", &job::command_timeout, "1s", {1ms, 24h},
            "a server's answer that is overdue by so much leaves its attempt in doubt"),
    declare("give_up_after", &job::give_up_after, "5s", {1ms, 24h},
            "the run ends when no attempt has reached a server for so long"),
    declare("floor", &job::floor, "500ms", {0s, 1h},
            "how long the harness first measures itself without a server; 0s: not at all"),
    declare("seed", &job::seed, "1", {0, UINT64_MAX}, "the same seed gives the same plan"),
    declare_group("faults", &job::faults,
                  "what goes wrong meanwhile: a list of {do: pause, who: holder, at: 2s, for: 5s}"),
  };
}
// clang-format on

job default_job() {
  static const job made = [] {
    job result;
    apply_defaults(the_options(), result);
    return result;
  }();
  return made;
}

job parse_job(const std::string& yaml, const std::string& file,
              const std::vector<std::string>& assignments) {
  job result = default_job();
  places where;
  read_file_into(result, where, yaml, file);
  for (const std::string& assignment : assignments) {
    const std::string key = apply_assignment(result, assignment);
    where[key] = assigned;
  }
  // Who asks for a longer measurement than the file allows means it.
  const auto is_assigned = [&where](std::string_view key) {
    const auto place = where.find(key);
    return place != where.end() && place->second == assigned;
  };
  if (is_assigned("stop.duration") && !is_assigned("stop.at_most")) {
    result.stop_at_most = std::max(result.stop_at_most, result.stop_duration);
  }
  if (const auto wrong = find_misfit(result)) {
    throw config_error(
        fmt::format("{}{}: {}", place_of(where, wrong->key, file), wrong->key, wrong->sentence));
  }
  return result;
}

job draft_job(const std::string& yaml, const std::string& file) {
  job result = default_job();
  places where;
  read_file_into(result, where, yaml, file);
  return result;
}

std::string read_job_file(const std::string& path) {
  std::ifstream file{path};
  std::string text;
  std::array<char, 4096> block;
  while (file.read(block.data(), block.size()), file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  // A directory opens but cannot be read.
  if (!file.is_open() || file.bad()) {
    throw config_error(fmt::format("{}: cannot be read ({})", path, std::strerror(errno)));
  }
  return text;
}

job load_job(const std::string& path, const std::vector<std::string>& assignments) {
  return parse_job(read_job_file(path), path, assignments);
}

void apply_set(job& target, std::string_view assignment) {
  apply_assignment(target, assignment);
}

void check_job(const job& checked) {
  if (const auto wrong = find_misfit(checked)) {
    throw config_error(fmt::format("{}: {}", wrong->key, wrong->sentence));
  }
}

std::string print_job(const job& printed) {
  return print_settings(write_all(the_options(), printed));
}

std::string help_text() {
  return help_for(the_options());
}

}  // namespace lockmark::config
