// The history of a run for Jepsen's checkers: its form, and a checker's verdict.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "drivers/faulty/faulty.hpp"
#include "drivers/memory/memory.hpp"
#include "harness/check/edn.hpp"
#include "harness/run/run_job.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// An op map as written, every value as text: {":type", ":ok"}, {":value", "[0 nil]"}.
using op_map = std::map<std::string, std::string>;

// Reads the subset of EDN that ops use: maps of keywords to keywords, numbers, nil and flat
// vectors.
std::optional<op_map> read_op(const std::string& line) {
  if (!line.starts_with("{") || !line.ends_with("}")) return std::nullopt;
  std::istringstream words(line.substr(1, line.size() - 2));
  op_map op;
  for (std::string key, value; words >> key;) {
    if (!key.starts_with(":") || !(words >> value)) return std::nullopt;
    if (value.starts_with("[")) {
      std::string more;
      while (value.find(']') == std::string::npos && words >> more) value += " " + more;
    }
    if (value.ends_with(",")) value.pop_back();
    if (!op.emplace(key, value).second) return std::nullopt;
  }
  return op;
}

struct op {
  bool acquire = false;
  std::string type;
  std::string key;
  std::string token;
  long process = 0;
  long time = 0;
  long index = 0;
};

std::vector<op> read_history(const std::string& edn) {
  std::vector<op> all;
  std::istringstream lines(edn);
  for (std::string line; std::getline(lines, line);) {
    const auto map = read_op(line);
    EXPECT_TRUE(map && map->size() == 6) << line;
    if (!map || map->size() != 6) return {};
    op o;
    o.acquire = map->at(":f") == ":acquire";
    EXPECT_TRUE(o.acquire || map->at(":f") == ":release") << line;
    o.type = map->at(":type");
    const std::string& value = map->at(":value");
    const auto blank = value.find(' ');
    o.key = value.substr(1, blank - 1);
    o.token = value.substr(blank + 1, value.size() - blank - 2);
    o.process = std::stol(map->at(":process"));
    o.time = std::stol(map->at(":time"));
    o.index = std::stol(map->at(":index"));
    all.push_back(o);
  }
  return all;
}

// The flaw in the form of a history; empty: none.
std::string flaw_of(const std::vector<op>& history) {
  std::map<long, const op*> open;
  std::set<long> retired;
  long index = 0, time = 0;
  for (const op& o : history) {
    const std::string where = fmt::format("index {}: ", o.index);
    if (o.index != index++) return where + "out of order";
    if (o.time < time) return where + "time goes back";
    time = o.time;
    if (retired.contains(o.process)) return where + "the process was in doubt before";
    if (o.type == ":invoke") {
      if (!open.emplace(o.process, &o).second) return where + "the process is busy";
      continue;
    }
    const auto invoked = open.find(o.process);
    if (invoked == open.end()) return where + "nothing was invoked";
    const op& begun = *invoked->second;
    if (begun.acquire != o.acquire || begun.key != o.key) return where + "another was invoked";
    open.erase(invoked);
    if (o.type == ":info") retired.insert(o.process);
    if (o.type != ":ok" && o.type != ":fail" && o.type != ":info") return where + o.type;
  }
  return "";
}

// An operation on one key, as a checker sees it: it takes effect between the two, if at all.
struct operation {
  bool acquire;
  long process;
  long invoked;
  long answered;  // LONG_MAX: in doubt, so it may take effect at any time, or never
};

std::vector<operation> operations(const std::vector<op>& history, const std::string& key) {
  std::vector<operation> all;
  std::map<long, std::size_t> open;
  for (const op& o : history) {
    if (o.key != key) continue;
    if (o.type == ":invoke") {
      open[o.process] = all.size();
      all.push_back({o.acquire, o.process, o.index, LONG_MAX});
    } else if (o.type == ":ok") {
      all[open.at(o.process)].answered = o.index;
    } else if (o.type == ":fail") {
      all[open.at(o.process)].process = -1;  // it certainly never happened
    }
  }
  std::erase_if(all, [](const operation& o) { return o.process == -1; });
  return all;
}

// Wing and Gong's search for an order in which the operations are those of a mutex that only its
// owner can release. Tries all orders.
class search {
 public:
  explicit search(std::vector<operation> all) : all_(std::move(all)), done_(all_.size()) {}

  bool finds_an_order(long holder = -1) {
    long first_answer = LONG_MAX;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!done_[i]) first_answer = std::min(first_answer, all_[i].answered);
    }
    if (first_answer == LONG_MAX) return true;  // the rest may never have happened
    if (!seen_.emplace(done_, holder).second) return false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const operation& o = all_[i];
      if (done_[i] || o.invoked > first_answer) continue;
      if (holder != (o.acquire ? -1 : o.process)) continue;
      done_[i] = true;
      if (finds_an_order(o.acquire ? o.process : -1)) return true;
      done_[i] = false;
    }
    return false;
  }

 private:
  std::vector<operation> all_;
  std::vector<bool> done_;
  std::set<std::pair<std::vector<bool>, long>> seen_;
};

bool linearizable(const std::vector<op>& history) {
  std::set<std::string> keys;
  for (const op& o : history) keys.insert(o.key);
  for (const std::string& key : keys) {
    if (!search(operations(history, key)).finds_an_order()) return false;
  }
  return true;
}

struct told {
  std::string edn;
  result r;
};

// One run on a memory lock from simulated time zero, and its history.
told simulate_history(std::string_view lock, const std::string& yaml) {
  std::vector<lock_kind> known = memory::kinds();
  for (const lock_kind& k : faulty::kinds()) known.push_back(k);
  const auto kind =
      std::find_if(known.begin(), known.end(), [&](const lock_kind& k) { return k.name == lock; });
  const config::job job = config::parse_job(yaml, "test.yaml");
  option_values options;
  for (const lock_option& o : kind->options) options[std::string(o.name)] = o.preset;
  for (const auto& [name, value] : job.options) options[name] = value;
  const auto behind = kind->make({"memory:", {"test", {"k0", "k1"}}, options});
  const workload_kind workload = workloads::mutex();
  simulated_clock clock;
  told all;
  check::edn_history history(static_cast<std::uint32_t>(job.clients_in_all()),
                             kind->has.has(feature::fencing_token));
  setup s{.job = job,
          .lock = *kind,
          .behind = *behind,
          .workload = workload,
          .run_id = "test",
          .target = "memory:",
          .topology = "memory"};
  s.on_event = [&](const check::event& e) { history.append(e, all.edn); };
  all.r = run_job_simulated(s, clock);
  return all;
}

const std::string history_load = R"(
load: {loop: closed, instances: 2, clients: 2}
keys: uniform(2)
hold: 1ms
wait: 20ms
lease: 50ms
warmup: 0s
stop: {duration: 40ms, at_most: 40ms}
)";

// Every grant and release of the run is there, well-formed, and the history is that of a mutex.
TEST(history, of_a_lock_is_linearizable) {
  const told t = simulate_history("memory/lock", history_load);
  const std::vector<op> history = read_history(t.edn);
  EXPECT_EQ(flaw_of(history), "");
  const auto granted = std::count_if(history.begin(), history.end(), [](const op& o) {
    return o.acquire && o.type == ":ok" && o.token != "nil";
  });
  EXPECT_EQ(static_cast<std::uint64_t>(granted), t.r.grants_in_all);
  EXPECT_EQ(history.size(), 4 * static_cast<std::size_t>(granted));
  EXPECT_GT(granted, 20);
  EXPECT_TRUE(linearizable(history)) << t.edn;
  EXPECT_THAT(t.edn, AllOf(Not(HasSubstr(":info")), Not(HasSubstr(":fail"))));
}

// Two concurrent holders: no order of the operations is that of a mutex.
TEST(history, of_two_holders_is_rejected) {
  const told t = simulate_history("faulty/lock", history_load + "options: {two_holders: 10}\n");
  EXPECT_GT(t.r.violations(), 0U);
  const std::vector<op> history = read_history(t.edn);
  EXPECT_EQ(flaw_of(history), "");
  EXPECT_FALSE(linearizable(history));
}

// Refused attempts fail, and their client keeps its process.
TEST(history, has_attempts_that_fail) {
  const told t = simulate_history("memory/lock", R"(
load: {loop: closed, instances: 1, clients: 3}
hold: 4ms
wait: 5ms
warmup: 0s
stop: {duration: 40ms, at_most: 40ms}
)");
  const std::vector<op> history = read_history(t.edn);
  EXPECT_EQ(flaw_of(history), "");
  EXPECT_THAT(t.edn, HasSubstr(":type :fail, :f :acquire"));
  for (const op& o : history) EXPECT_LT(o.process, 3);
  EXPECT_TRUE(linearizable(history)) << t.edn;
}

// Lost replies, to acquires and to releases: the process is never used again.
TEST(history, gives_clients_in_doubt_a_new_process) {
  const told t = simulate_history("faulty/lock", history_load + "options: {lost_replies: 0.2}\n");
  const std::vector<op> history = read_history(t.edn);
  EXPECT_EQ(flaw_of(history), "");
  EXPECT_THAT(t.edn,
              AllOf(HasSubstr(":type :info, :f :acquire"), HasSubstr(":type :info, :f :release")));
  std::set<long> processes;
  for (const op& o : history) processes.insert(o.process);
  EXPECT_GT(processes.size(), 4U);
  for (const long p : processes) EXPECT_TRUE(p < 4 || processes.contains(p - 4)) << p;
  EXPECT_TRUE(linearizable(history)) << t.edn;
}

// A lease that expired during the hold: its release fails, so the mutex is lost to a checker, as it
// is to the clients.
TEST(history, has_releases_that_fail) {
  const told t = simulate_history("memory/lock", R"(
load: {loop: closed, instances: 2, clients: 1}
hold: 8ms
lease: 3ms
wait: 100ms
warmup: 0s
stop: {duration: 40ms, at_most: 40ms}
)");
  EXPECT_EQ(flaw_of(read_history(t.edn)), "");
  EXPECT_THAT(t.edn, HasSubstr(":type :fail, :f :release"));
  EXPECT_FALSE(linearizable(read_history(t.edn)));
}

// A holder that died: its release was invoked and never answered, and its process is not used
// again.
TEST(history, of_a_holder_that_died_ends_in_doubt) {
  check::edn_history history(2, false);
  std::string edn;
  using enum check::event_kind;
  for (const auto kind : {began, granted, died, began}) history.append({5, 0, 0, 1, kind}, edn);
  const std::vector<op> ops = read_history(edn);
  EXPECT_EQ(flaw_of(ops), "");
  ASSERT_EQ(ops.size(), 5u) << edn;
  EXPECT_FALSE(ops[2].acquire);
  EXPECT_EQ(ops[2].type, ":invoke");
  EXPECT_FALSE(ops[3].acquire);
  EXPECT_EQ(ops[3].type, ":info");
  EXPECT_EQ(ops[4].process, 3);
}

// Tests the test: malformed histories are recognised.
TEST(history, its_reader_sees_what_is_wrong) {
  const auto line = [](const char* type, const char* f, int process, int index) {
    return fmt::format("{{:type :{}, :f :{}, :value [0 7], :process {}, :time {}, :index {}}}\n",
                       type, f, process, index, index);
  };
  const auto flaw = [](const std::string& edn) { return flaw_of(read_history(edn)); };
  const std::string good = line("invoke", "acquire", 1, 0) + line("info", "acquire", 1, 1);
  EXPECT_EQ(flaw(good), "");
  EXPECT_THAT(flaw(good + line("invoke", "acquire", 1, 2)), HasSubstr("in doubt before"));
  EXPECT_THAT(flaw(good + line("ok", "acquire", 2, 2)), HasSubstr("nothing was invoked"));
  EXPECT_THAT(flaw(good + line("invoke", "acquire", 2, 3)), HasSubstr("out of order"));
  EXPECT_THAT(flaw(line("invoke", "acquire", 1, 0) + line("ok", "release", 1, 1)),
              HasSubstr("another"));
  EXPECT_FALSE(read_op("{:type :ok"));
  EXPECT_FALSE(read_op("{:type}"));
}

}  // namespace
}  // namespace lockmark::run
