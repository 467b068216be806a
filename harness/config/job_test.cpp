#include "harness/config/job.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace lockmark::config {
namespace {

using namespace std::chrono_literals;

const std::string ends = "stop: {samples: 10}\n";

std::string job_error_of(const std::string& yaml,
                         const std::vector<std::string>& assignments = {}) {
  try {
    parse_job(yaml, "j.yaml", assignments);
  } catch (const config_error& error) {
    return error.what();
  }
  return "no error";
}

std::string set_error_of(const std::string& assignment) {
  job target = default_job();
  try {
    apply_set(target, assignment);
  } catch (const config_error& error) {
    return error.what();
  }
  return "no error";
}

// Every default is allowed by its own row and equals what the row says.
TEST(job, defaults_come_from_the_table) {
  const job j = default_job();
  EXPECT_EQ(j.loop, loop_kind::closed);
  EXPECT_EQ(j.wait, 1s);
  EXPECT_EQ(j.lease, 30s);
  EXPECT_EQ(j.retry, *parse_retry_policy("jittered(1ms, 20ms)"));
  EXPECT_EQ(j.workload, "auto");
  EXPECT_EQ(j.backlog, 10'000u);
  EXPECT_EQ(j.rtt, 0s);
  EXPECT_EQ(j.rtt_jitter, 0s);
  EXPECT_EQ(j.session_timeout, 10s);
  EXPECT_EQ(j.stop_at_most, 10min);
  EXPECT_EQ(j.give_up_after, 5s);
  EXPECT_EQ(j.floor, 500ms);
  EXPECT_EQ(j.seed, 1u);
  EXPECT_FALSE(j.rate.has_value());
}

// Each type of value is read from its place in the groups.
TEST(job, is_read_from_yaml) {
  const job j = parse_job(
      "lock: redis/lua\n"
      "options: {watchdog: 'true', memory: {delay: 1ms}, faulty.mode: two_holders}\n"
      "load:\n"
      "  loop: partly_open\n"
      "  rate: 1500/m\n"
      "  cycles: 5\n"
      "  instances: 1_000\n"
      "keys: zipf(1000, 0.99)\n"
      "hold: exponential(5ms)\n"
      "renew: true\n"
      "seed: 18446744073709551615\n"
      "stop.duration: 5s\n",
      "j.yaml");
  EXPECT_EQ(j.lock, "redis/lua");
  const std::map<std::string, std::string> options{
      {"watchdog", "true"}, {"memory.delay", "1ms"}, {"faulty.mode", "two_holders"}};
  EXPECT_EQ(j.options, options);
  EXPECT_EQ(j.loop, loop_kind::partly_open);
  EXPECT_EQ(j.rate->per_second(), 25);
  EXPECT_EQ(j.cycles, 5u);
  EXPECT_EQ(j.clients_in_all(), 1000u);
  EXPECT_EQ(j.keys.keys, 1000u);
  EXPECT_TRUE(j.renew);
  EXPECT_EQ(j.seed, ~std::uint64_t{0});
  EXPECT_EQ(j.stop_duration, 5s);
}

// One row per kind of error in a file, with the whole sentence.
TEST(job, says_what_is_wrong_in_a_file) {
  const std::pair<std::string, std::string> cases[] = {
      {"lese: 30s\n", "j.yaml:1: lese: is an unknown key; the nearest known key is lease"},
      {"wait: 1s\nclients: 4\n",
       "j.yaml:2: clients: is an unknown key; the nearest known key is load.clients"},
      {"load:\n  loop: closed\n  clinets: 4\n",
       "j.yaml:3: load.clinets: is an unknown key; the nearest known key is load.clients"},
      {"laod: {clients: 4}\n",
       "j.yaml:1: laod.clients: is an unknown key; the nearest known key is load.clients"},
      {"laod: {}\n", "j.yaml:1: laod: is an unknown key; the nearest known key is load"},
      {"stop: 5s\n",
       "j.yaml:1: stop: expected a group of keys (stop.samples, stop.owner_changes, stop.duration, "
       "stop.at_most), not "
       "a "
       "single value"},
      {"stop:\n",
       "j.yaml:1: stop: expected a group of keys (stop.samples, stop.owner_changes, stop.duration, "
       "stop.at_most), not "
       "an empty value"},
      {"\nlease: 30\n",
       "j.yaml:2: lease: expected a duration such as 250ms, 1.5s or 2m (units ns, us, ms, s, m, "
       "h), "
       "not '30', which has no unit"},
      {"lease: 500us\n", "j.yaml:1: lease: expected a duration from 1ms to 24h, not '500us'"},
      {"wait: 0s\n", "j.yaml:1: wait: expected a duration from 1ns to 24h, not '0s'"},
      {"lease:\n", "j.yaml:1: lease: expected a duration from 1ms to 24h, not an empty value"},
      {"lease: [30s]\n", "j.yaml:1: lease: expected a duration from 1ms to 24h, not a list"},
      {"lease: {}\n", "j.yaml:1: lease: expected a duration from 1ms to 24h, not a group of keys"},
      {"lease: {min: 1s}\n",
       "j.yaml:1: lease.min: is an unknown key; the nearest known key is lease"},
      {"load: {instances: 0}\n",
       "j.yaml:1: load.instances: expected a whole number from 1 to 100000, not '0'"},
      {"load: {instances: 10k}\n",
       "j.yaml:1: load.instances: expected a whole number such as 10000 or 10_000, not '10k'"},
      {"reentrancy: 101\n",
       "j.yaml:1: reentrancy: expected a whole number from 1 to 100, not '101'"},
      {"load: {loop: opened}\n",
       "j.yaml:1: load.loop: expected closed, open, poisson or partly_open, not 'opened'"},
      {"renew: yes\n", "j.yaml:1: renew: expected true or false, not 'yes'"},
      {"guard: mutex\n", "j.yaml:1: guard: expected none or register, not 'mutex'"},
      {"keys: two\n",
       "j.yaml:1: keys: expected one, own, uniform(KEYS), zipf(KEYS, EXPONENT) or hotspot(KEYS, "
       "HOT_KEYS, HOT_SHARE), not 'two'"},
      {"wait: 1s\nwait: 2s\n", "j.yaml:2: wait: is given twice, first in line 1"},
      {"load: {clients: 2}\nload.clients: 3\n",
       "j.yaml:2: load.clients: is given twice, first in line 1"},
      {"load: {clients: 2}\nseed: 1\nload: {loop: closed}\n",
       "j.yaml:3: load: is given twice, first in line 1"},
      {"options: {a: [1]}\n", "j.yaml:1: options.a: expected a value, not a list"},
      {"options: {a: {b: {c: {d: 1}}}}\n", "j.yaml:1: options.a.b.c: is nested too deeply"},
      {"options: &a {again: *a}\n", "j.yaml:1: options.again.again.again: is nested too deeply"},
      {"? [a]\n: 1\n", "j.yaml:1: expected a key, not a list or a group"},
      {"\"wa\\nit\": 1s\n",
       "j.yaml:1: expected a key of letters, digits, '_', '-' and '.', not 'wa?it'"},
      {"- wait: 1s\n", "j.yaml:1: expected lines of the form KEY: VALUE"},
      {"just words\n", "j.yaml:1: expected lines of the form KEY: VALUE"},
      {"seed: 1\n---\nseed: 2\n", "j.yaml:2: expected one YAML document with nothing behind it"},
      {",", "j.yaml:1: expected one YAML document with nothing behind it"},
      {"{seed: 1}\n,", "j.yaml:2: expected one YAML document with nothing behind it"},
      {"{seed: 1}\n]\n", "j.yaml:2: is not valid YAML (illegal flow end)"},
      {"load: {loop: closed\n", "j.yaml:2: is not valid YAML (end of map flow not found)"},
  };
  for (const auto& [yaml, sentence] : cases) EXPECT_EQ(job_error_of(yaml), sentence) << yaml;
}

// Values that are each valid but contradict each other; the place is that of the key, if given.
TEST(job, says_what_does_not_fit_together) {
  const std::pair<std::string, std::string> cases[] = {
      {"load: {loop: open}\n" + ends,
       "j.yaml: load.rate: is needed by load.loop open, such as 200/s"},
      {"load: {loop: partly_open, cycles: 2}\n" + ends,
       "j.yaml: load.rate: is needed by load.loop partly_open, such as 200/s"},
      {"load:\n  rate: 5/s\n" + ends,
       "j.yaml:2: load.rate: means nothing to load.loop closed, whose clients set the pace"},
      {"load: {loop: partly_open, rate: 5/s}\n" + ends,
       "j.yaml: load.cycles: is needed by load.loop partly_open: the attempts of a session"},
      {"load: {loop: poisson, rate: 5/s, cycles: 2}\n" + ends,
       "j.yaml:1: load.cycles: is for load.loop partly_open only, not poisson"},
      {"load: {loop: open, rate: 5/s, think: 1ms}\n" + ends,
       "j.yaml:1: load.think: is for load.loop closed or partly_open only, not open"},
      {"load: {instances: 100000, clients: 100000}\n" + ends,
       "j.yaml:1: load.clients: times load.instances makes 10000000000 clients; at most 1000000 "
       "are "
       "allowed"},
      {"load: {instances: 3}\nparticipants: 4\n" + ends,
       "j.yaml:2: participants: 4 are more than the 3 of load.instances that live in them"},
      {"load: {instances: 3, threads: 2}\nparticipants: 3\n" + ends,
       "j.yaml:1: load.threads: means nothing to participants, which have one thread each"},
      {"rtt_jitter: 1ms\n" + ends, "j.yaml:1: rtt_jitter: comes on top of rtt, which is 0s"},
      {"",
       "j.yaml: stop: needs stop.samples, stop.owner_changes or stop.duration, or the run has no "
       "end"},
      {"stop: {duration: 5m,\n at_most: 1m}\n",
       "j.yaml:2: stop.at_most: of 1m is shorter than stop.duration of 5m"},
      {"lock: redis\n" + ends, "j.yaml:1: lock: expected a lock such as redis/lua, not 'redis'"},
      {"lock: redis/.x\n" + ends,
       "j.yaml:1: lock: expected a lock such as redis/lua, not 'redis/.x'"},
      {"lock: redis/\n" + ends, "j.yaml:1: lock: expected a lock such as redis/lua, not 'redis/'"},
      {"workload: ''\n" + ends,
       "j.yaml:1: workload: expected a workload such as auto or mutex, not ''"},
  };
  for (const auto& [yaml, sentence] : cases) EXPECT_EQ(job_error_of(yaml), sentence) << yaml;
}

// --set overrides the file, and the two are checked together.
TEST(job, set_overrides_the_file) {
  const job j = parse_job("wait: 2s\n" + ends, "j.yaml",
                          {"wait=3s", "load.loop=open", "load.rate=5/s", "options.x=a=b",
                           "lock=faulty/redis/lua", "keys=uniform(7)"});
  EXPECT_EQ(j.wait, 3s);
  EXPECT_EQ(j.loop, loop_kind::open);
  EXPECT_EQ(j.options.at("x"), "a=b");
  EXPECT_EQ(j.lock, "faulty/redis/lua");
  EXPECT_EQ(job_error_of(ends, {"load.rate=5/s"}),
            "--set load.rate: means nothing to load.loop closed, whose clients set the pace");
  EXPECT_EQ(job_error_of("load: {loop: open, rate: 5/s}\n" + ends, {"load.rate=none"}),
            "--set load.rate: is needed by load.loop open, such as 200/s");
}

// Who asks for a longer measurement than the file allows need not know of the file's limit.
TEST(job, a_longer_duration_lengthens_the_limit_with_it) {
  const std::string limited = "stop: {duration: 5s, at_most: 15s}\n";
  EXPECT_EQ(parse_job(limited, "j.yaml", {"stop.duration=30s"}).stop_at_most, 30s);
  EXPECT_EQ(parse_job(limited, "j.yaml", {"stop.duration=10s"}).stop_at_most, 15s);
  EXPECT_EQ(job_error_of(limited, {"stop.duration=30s", "stop.at_most=20s"}),
            "--set stop.at_most: of 20s is shorter than stop.duration of 30s");
  EXPECT_EQ(job_error_of("stop: {duration: 30s, at_most: 15s}\n"),
            "j.yaml:1: stop.at_most: of 15s is shorter than stop.duration of 30s");
}

TEST(job, says_what_is_wrong_with_set) {
  EXPECT_EQ(set_error_of("lease=30s"), "no error");
  EXPECT_EQ(set_error_of("lese=30s"),
            "--set lese: is an unknown key; the nearest known key is lease");
  EXPECT_EQ(set_error_of("lease=1us"),
            "--set lease: expected a duration from 1ms to 24h, not '1us'");
  EXPECT_EQ(set_error_of("lease"), "--set: expected KEY=VALUE, not 'lease'");
  EXPECT_EQ(set_error_of("le ase=5s"),
            "--set: expected a key of letters, digits, '_', '-' and '.', not 'le ase'");
  EXPECT_EQ(set_error_of("=5"), "--set: expected KEY=VALUE, not '=5'");
  EXPECT_EQ(set_error_of("load=5"),
            "--set load: expected a group of keys (load.loop, load.instances, load.clients, "
            "load.threads, load.rate, load.cycles, load.think, load.backlog), not a single value");
  EXPECT_EQ(set_error_of("options.=5"),
            "--set options.: is an unknown key; the nearest known key is options.*");
}

// Without a file the error has a sentence and no place.
TEST(job, check_names_the_key) {
  try {
    check_job(default_job());
    FAIL();
  } catch (const config_error& error) {
    EXPECT_STREQ(
        error.what(),
        "stop: needs stop.samples, stop.owner_changes or stop.duration, or the run has no end");
  }
}

// A printed job reads back as the same job, even with values that YAML would take for another type.
TEST(job, survives_the_round_trip) {
  job j = parse_job(
      "load: {loop: partly_open, rate: 100/m, cycles: 3}\nhold: uniform(1ms, 3ms)\n" + ends,
      "j.yaml");
  for (const char* text : {"", "null", "~", "true", "a: b # c", "- x", "'q\"", "line\nline", "{",
                           "*a", "&a", "!t", " blank ", "%", "@", "\t", "caf\xc3\xa9"}) {
    j.options["value"] = text;
    EXPECT_EQ(parse_job(print_job(j), "printed"), j) << text << "\n" << print_job(j);
  }
  EXPECT_EQ(parse_job(print_job(j), "printed", {"seed=2"}).seed, 2u);
  EXPECT_NE(parse_job(print_job(j), "printed", {"seed=2"}), j);
}

// A printed job looks like one written by hand.
TEST(job, is_printed_in_groups) {
  const std::string text = print_job(parse_job(ends, "j.yaml"));
  EXPECT_NE(text.find("load:\n  loop: closed\n  instances: 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nretry: jittered(1ms, 20ms)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nstop:\n  samples: 10\n  owner_changes: 0\n  duration: 0s\n"),
            std::string::npos)
      << text;
}

// Every option is explained once, in lines that fit.
TEST(job, help_explains_every_option) {
  const std::string help = "\n" + help_text();
  std::set<std::string> names;
  for (const auto& row : job_options()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(help.find("\n  " + row.name), std::string::npos) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
  }
  EXPECT_NE(help.find("  lease = 30s\n      a duration from 1ms to 24h\n"), std::string::npos)
      << help;
  std::istringstream lines{help};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

// An unreadable file gives a one-sentence error, not an empty job.
TEST(job, a_file_must_be_readable) {
  const auto error = [](const std::string& path) -> std::string {
    try {
      load_job(path);
    } catch (const config_error& caught) {
      return caught.what();
    }
    return "no error";
  };
  EXPECT_EQ(error("no/such/job.yaml"),
            "no/such/job.yaml: cannot be read (No such file or directory)");
  EXPECT_EQ(error("workloads/jobs"), "workloads/jobs: cannot be read (Is a directory)");
}

// Every shipped job is valid for any lock, begins by saying what it shows, and ends within 15 s.
TEST(shipped_jobs, are_valid_and_explained) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{"workloads/jobs"}) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".yaml") continue;
    names.insert(entry.path().stem().string());
    const job j = load_job(path);
    EXPECT_TRUE(j.lock.empty()) << path;
    EXPECT_EQ(parse_job(print_job(j), "printed"), j) << path;
    // No job runs long by accident; "soak" is meant to.
    EXPECT_TRUE(j.stop_at_most <= 15s || entry.path().stem() == "soak") << path;
    std::ifstream file{path};
    std::string line;
    std::getline(file, line);
    EXPECT_TRUE(line.starts_with("# ") && line.size() > 40) << path;
  }
  const std::set<std::string> expected{
      "contended",  "herd",       "hot_lock", "hotspot",     "long_hold_renewed",
      "one_client", "open_rate",  "outage",   "partly_open", "read_mostly",
      "reentrant",  "short_wait", "soak",     "uncontended"};
  EXPECT_EQ(names, expected);
}

// The scenario behind the comparison table, word for word.
TEST(shipped_jobs, contended_is_the_tables_scenario) {
  const job j = load_job("workloads/jobs/contended.yaml");
  EXPECT_EQ(j.keys.kind, key_choice::shape::one);
  EXPECT_EQ(j.instances, 4u);
  EXPECT_EQ(j.clients, 4u);
  EXPECT_FALSE(j.hold.always_zero());
  EXPECT_FALSE(j.think.always_zero());
  EXPECT_EQ(j.wait, 1s);
  EXPECT_EQ(j.lease, 30s);
  EXPECT_EQ(print_retry_policy(j.retry), "jittered(1ms, 20ms)");
  EXPECT_EQ(j.stop_samples, 1000u);
  EXPECT_EQ(j.stop_duration, 5s);
  EXPECT_EQ(j.stop_at_most, 15s);
  const job own = load_job("workloads/jobs/uncontended.yaml");
  EXPECT_EQ(own.keys.kind, key_choice::shape::own);
  EXPECT_EQ(own.clients_in_all(), j.clients_in_all());
  EXPECT_TRUE(own.hold.always_zero());
}

// A name in the list must be valid in a job.
TEST(job, a_lock_may_have_a_version_in_its_name) {
  EXPECT_EQ(parse_job("lock: exec/redisson_3.52\n" + ends, "j.yaml").lock, "exec/redisson_3.52");
}

}  // namespace
}  // namespace lockmark::config
