// Faults in lockmark itself: it is killed, its participants or proxies are, its disk is full.
// Nothing hangs, no process is left behind, and the folder states what it contains.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <map>
#include <sstream>

#include "program/participants_fixture.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
namespace fs = std::filesystem;

class survival : public testing::Test {
 protected:
  // `lockmark run` with a job of these lines and its load, of this duration.
  std::vector<std::string> command(const std::string& lines, const std::string& on,
                                   const char* lasts, std::vector<std::string> more = {}) {
    const fs::path file = dir_ / "job.yaml";
    std::ofstream(file) << "wait: 1s\nwarmup: 100ms\nfloor: 0s\ncommand_timeout: 500ms\n"
                        << "give_up_after: 3s\nstop: {duration: " << lasts << "}\n"
                        << lines;
    std::vector<std::string> words{"run", file.string(), "--on", on, "--out", runs_.string()};
    words.insert(words.end(), more.begin(), more.end());
    return lockmark(words);
  }
  ended report() { return run(dir_.path(), {"report", only_folder(runs_).string()}); }
  nlohmann::json told() { return read_json(only_folder(runs_) / "run.json"); }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& f : fs::directory_iterator(only_folder(runs_))) {
      names.push_back(f.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  scratch dir_;
  const fs::path runs_ = dir_ / "runs";
};

constexpr const char* four_apart =
    "lock: redis/lua\nload: {instances: 4, clients: 2}\nparticipants: 4\nlease: 2s\nhold: 1ms\n";
constexpr const char* a_cut_some_day = "faults:\n  - {do: cut, who: servers, at: 1h, for: 1s}\n";

// SIGKILL for lockmark: participants, proxies, keeper and servers end with it, and its measurements
// so far are there, but not called a result.
TEST_F(survival, of_others_when_lockmark_is_killed) {
  program p(command(fmt::format("{}{}", four_apart, a_cut_some_day), "local:redis", "60s"),
            dir_.path());
  ASSERT_TRUE(p.says("measuring", 2)) << p.err();
  const std::vector<pid_t> all = all_below(p.pid());
  EXPECT_THAT(children_named("lm-participant", p.pid()), SizeIs(4));
  EXPECT_GT(child_called("proxy", p.pid()), 0);
  const auto keepers = children_named("lm-keeper", p.pid());
  ASSERT_THAT(keepers, SizeIs(1));
  EXPECT_THAT(children_named("redis-server", keepers[0]), SizeIs(1));
  EXPECT_THAT(all, SizeIs(7));
  p.signal(SIGKILL);
  p.wait(10s);
  EXPECT_THAT(still_there(all, 5s), IsEmpty());

  EXPECT_THAT(files(), testing::ElementsAre("job.yaml", "latency.hlog.part", "run.json",
                                            "timeline.jsonl.part"));
  EXPECT_EQ(told()["run"]["complete"], false);
  const ended e = report();
  EXPECT_EQ(e.status, 0) << e.err;
  EXPECT_THAT(e.out, HasSubstr("incomplete: the run has not ended yet, or was killed"));
  EXPECT_THAT(e.out, HasSubstr("INCOMPLETE"));
  EXPECT_THAT(e.out, Not(HasSubstr("held:")));
  const ended course =
      run(dir_.path(), {"report", only_folder(runs_).string(), "--timeline", "--format", "csv"});
  EXPECT_EQ(course.status, 0) << course.err;
  EXPECT_GE(std::count(course.out.begin(), course.out.end(), '\n'), 2);
}

// One operation of history.edn, as far as the test needs it.
struct operation {
  std::string type;
  std::string function;
  long process = -1;
};
operation parsed(const std::string& line) {
  std::istringstream words(line);
  operation o;
  for (std::string word; words >> word;) {
    if (word == "{:type") words >> o.type;
    if (word == ":f") words >> o.function;
    if (word == ":process") words >> o.process;
  }
  return o;
}

// Checks that each process's operations begin and end in turn, and that nothing follows an :info.
// Returns the number of processes that ended with one.
int count_cut(const fs::path& file) {
  struct state {
    std::string open;
    bool over = false;
  };
  std::map<long, state> all;
  int cut = 0;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    EXPECT_TRUE(line.starts_with("{:type :") && line.ends_with("}")) << line;
    const operation o = parsed(line);
    state& s = all[o.process];
    EXPECT_FALSE(s.over) << line;
    if (o.type == ":invoke,") {
      EXPECT_EQ(s.open, "") << line;
      s.open = o.function;
      continue;
    }
    EXPECT_EQ(s.open, o.function) << line;
    s.open.clear();
    s.over = o.type == ":info,";
    cut += s.over ? 1 : 0;
  }
  for (const auto& [process, s] : all) EXPECT_EQ(s.open, "") << process;
  EXPECT_GT(all.size(), 4u);
  return cut;
}

// Two participants are killed while they write events as fast as they can. Their history is there
// to its last complete entry, their open operations end in doubt, the rest is checked, and the
// deaths are reported.
TEST_F(survival, of_a_history_whose_writers_are_killed) {
  program p(
      command("lock: redis/lua\nload: {instances: 4, clients: 4}\nparticipants: 4\nlease: 2s\n"
              "keys: own\nhold: 0s\n",
              "local:redis", "2s", {"--history"}),
      dir_.path());
  ASSERT_TRUE(p.says("measuring")) << p.err();
  const auto writers = children_named("lm-participant", p.pid());
  ASSERT_THAT(writers, SizeIs(4));
  kill(writers[0], SIGKILL);
  kill(writers[3], SIGKILL);
  const ended e = p.wait(30s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;
  const auto r = told();
  EXPECT_EQ(r["run"]["status"], "complete");
  EXPECT_EQ(r["verdict"]["untested"]["id"], "untested_own_keys");
  EXPECT_EQ(r["verdict"]["violations"], 0);
  // A busy machine may stand still meanwhile, which is a mark, too.
  EXPECT_EQ(
      std::ranges::count(r["marks"], "participant_died", [](const auto& m) { return m["kind"]; }),
      2);
  const int cut = count_cut(only_folder(runs_) / "history.edn");
  EXPECT_GT(cut, 0) << "all clients of a process that dies are in the middle of something";
  EXPECT_LE(cut, 8);
  for (const std::string& text : {e.out, report().out}) {
    EXPECT_THAT(text, HasSubstr("was killed by signal 9"));
    EXPECT_THAT(text, HasSubstr("the run went on without it, and without what it had measured in "
                                "its last half second"));
  }
}

// The proxies between the participants and their server die: the run ends with a sentence.
TEST_F(survival, of_proxies_that_die) {
  // A busy machine may need seconds to end a killed process, whose links are silent until then.
  program p(command(fmt::format("{}{}", four_apart, a_cut_some_day), "local:redis", "60s",
                    {"--set", "give_up_after=20s"}),
            dir_.path());
  ASSERT_TRUE(p.says("measuring", 2)) << p.err();
  const pid_t proxies = child_called("proxy", p.pid());
  ASSERT_GT(proxies, 0);
  kill(proxies, SIGKILL);
  const ended e = p.wait(40s);
  EXPECT_EQ(e.status, 2) << e.out << e.err;
  EXPECT_THAT(e.err, HasSubstr("lockmark: the proxies that lockmark had put between the clients "
                               "and the servers have died"));
  EXPECT_EQ(told()["run"]["status"], "failed");
  EXPECT_EQ(told()["verdict"]["violations"], 0);
  EXPECT_GT(told()["counts"]["granted"].get<int>(), 0);
  EXPECT_THAT(report().out, HasSubstr("incomplete: the proxies"));
}

// From now on no file of this process grows beyond this size: a full disk for one process.
void limit_files(const program& p, rlim_t bytes) {
  const rlimit all{bytes, bytes};
  ASSERT_EQ(prlimit(p.pid(), RLIMIT_FSIZE, &all, nullptr), 0);
}

constexpr const char* in_memory =
    "lock: memory/lock\nload: {instances: 2, clients: 2}\nkeys: own\nhold: 1ms\n";

// No room for the history: the run ends, prints its result, and run.json states why.
TEST_F(survival, of_a_disk_that_is_full) {
  program p(command(in_memory, "memory:", "60s", {"--history"}), dir_.path());
  ASSERT_TRUE(p.says("measuring", 2)) << p.err();
  limit_files(p, 100'000);
  const ended e = p.wait(20s);
  EXPECT_EQ(e.status, 2) << e.out << e.err;
  const std::string sentence = without_progress(e.err);
  EXPECT_THAT(sentence, is_one_sentence());
  EXPECT_THAT(sentence, HasSubstr("history.edn cannot be written: File too large"));
  EXPECT_THAT(e.out, HasSubstr("grants/s"));
  EXPECT_THAT(e.out, HasSubstr("INCOMPLETE"));
  EXPECT_EQ(told()["run"]["status"], "failed");
  EXPECT_EQ(told()["run"]["complete"], false);
  EXPECT_THAT(told()["run"]["why"].get<std::string>(), HasSubstr("File too large"));
  EXPECT_GT(told()["counts"]["granted"].get<int>(), 0);
  EXPECT_THAT(files(), testing::ElementsAre("history.edn.part", "job.yaml", "latency.hlog.part",
                                            "run.json", "timeline.jsonl.part"));
  EXPECT_THAT(report().out, HasSubstr("File too large"));
}

// Not even run.json fits: the one from the run's beginning stays, and says that it is unfinished.
TEST_F(survival, of_a_disk_without_room_for_anything) {
  program p(command(in_memory, "memory:", "60s"), dir_.path());
  ASSERT_TRUE(p.says("measuring", 2)) << p.err();
  limit_files(p, 5'000);
  const ended e = p.wait(20s);
  EXPECT_EQ(e.status, 2) << e.out << e.err;
  EXPECT_THAT(without_progress(e.err), is_one_sentence());
  EXPECT_THAT(e.out, HasSubstr("grants/s"));
  EXPECT_EQ(told()["run"]["complete"], false);
  EXPECT_EQ(told()["run"]["status"], "running");
  EXPECT_THAT(files(), testing::ElementsAre("job.yaml", "latency.hlog.part", "run.json",
                                            "timeline.jsonl.part"));
}

}  // namespace
}  // namespace lockmark::cli
