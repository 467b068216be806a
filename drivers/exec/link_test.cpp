// Child processes: their answers, their deaths, and that nothing is left behind. The children are
// shell scripts; there is no lock and no server.
#include "drivers/exec/link.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "drivers/exec/driver.hpp"
#include "drivers/exec/exec.hpp"
#include "harness/base/process.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::exec {
namespace {

using namespace std::chrono_literals;

constexpr duration patience = 10s;

std::vector<std::string> shell(const std::string& script) {
  return {"sh", "-c", script};
}

const std::string ready = "read hello; echo '{\"ready\":true,\"version\":\"sh\"}'; ";

// A coroutine that gets a link to a shell script; the link is ended whatever happens.
using scene = task<void> (*)(loop&, link&);

task<void> play_whole(loop& l, std::string script, scene what) {
  const auto argv = shell(script);
  std::vector<std::string> secrets{"pa55"};
  link talk{l, argv, "exec/test on nowhere", std::move(secrets)};
  std::exception_ptr failure;
  try {
    co_await what(l, talk);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await talk.end();
  if (failure) std::rethrow_exception(failure);
}

void play(const std::string& script, scene what) {
  const real_clock clock;
  loop l{clock};
  run_to_end(l, play_whole(l, script, what));
}

// The error sentence of greet().
task<std::string> refused_greeting(loop& l, link& talk, duration within) {
  std::string why;
  try {
    std::string hello = "{}\n";
    co_await talk.greet(std::move(hello), l.now() + within);
  } catch (const no_server& e) {
    why = e.what();
  }
  co_return why;
}

task<void> greeted(loop& l, link& talk) {
  std::string hello = "{}\n";
  co_await talk.greet(std::move(hello), l.now() + patience);
}

bool runs(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string number;
  std::string name;
  std::string state;
  return (stat >> number >> name >> state) && state != "Z";
}

void wait_a_moment() {
  const real_clock clock;
  loop l{clock};
  run_to_end(l, l.sleep_for(1ms));
}

bool ends_soon(pid_t pid) {
  const time_point limit = real_clock{}.now() + patience;
  while (runs(pid) && real_clock{}.now() < limit) wait_a_moment();
  return !runs(pid);
}

// A new temporary file in which scripts leave process ids.
struct note {
  note() { close(mkstemp(path.data())); }
  ~note() { unlink(path.c_str()); }
  std::vector<pid_t> pids(std::size_t wanted) const {
    const time_point limit = real_clock{}.now() + patience;
    std::vector<pid_t> found;
    while (found.size() < wanted && real_clock{}.now() < limit) {
      wait_a_moment();
      found.clear();
      std::ifstream in(path);
      for (pid_t pid = 0; in >> pid;) found.push_back(pid);
    }
    return found;
  }
  std::string path = "/tmp/lockmark-exec-XXXXXX";
};

TEST(Link, SpeaksAndEnds) {
  play(ready + "read call; echo '{\"id\":1,\"outcome\":\"granted\"}'; read bye; exit 0",
       [](loop& l, link& talk) -> task<void> {
         std::string hello = "{}\n";
         const answer said = co_await talk.greet(std::move(hello), l.now() + patience);
         EXPECT_EQ(said.text, "sh");
         std::string call = "{}\n";
         const auto first = co_await talk.ask(1, std::move(call), l.now() + patience);
         EXPECT_TRUE(first && first->ending->done());
         EXPECT_TRUE(talk.alive());
       });
}

TEST(Link, AnAnswerMayComeInPieces) {
  play(ready + "read call; printf '{\"id\":1,'; read more; echo '\"outcome\":\"granted\"}'; cat",
       [](loop& l, link& talk) -> task<void> {
         co_await greeted(l, talk);
         std::string call = "{}\n{}\n";
         const auto first = co_await talk.ask(1, std::move(call), l.now() + patience);
         EXPECT_TRUE(first && first->ending->done());
       });
}

TEST(Link, ACallWithoutAnAnswerEndsAtItsLimitAndALateOneIsSeen) {
  play(ready +
           "read a; read b; echo '{\"id\":1,\"outcome\":\"granted\"}'; "
           "echo '{\"id\":2,\"outcome\":\"granted\"}'; read bye",
       [](loop& l, link& talk) -> task<void> {
         co_await greeted(l, talk);
         std::uint64_t late = 0;
         talk.on_late = [&late](const answer& a) { late = a.id; };
         std::string one = "{}\n";
         const auto first = co_await talk.ask(1, std::move(one), l.now() + 50ms);
         EXPECT_FALSE(first);
         EXPECT_FALSE(talk.dead());
         std::string two = "{}\n";
         const auto second = co_await talk.ask(2, std::move(two), l.now() + patience);
         EXPECT_TRUE(second);
         EXPECT_EQ(late, 1U);
       });
}

TEST(Link, ADeadChildLeavesItsCallOpenAndItsLastWords) {
  play(ready + "read call; echo 'no heap for pa55 left' >&2; exit 3",
       [](loop& l, link& talk) -> task<void> {
         co_await greeted(l, talk);
         std::string call = "{}\n";
         const auto first = co_await talk.ask(1, std::move(call), l.now() + patience);
         EXPECT_FALSE(first);
         EXPECT_TRUE(talk.dead());
         EXPECT_FALSE(talk.alive());
         EXPECT_EQ(talk.sentence(),
                   "exec/test on nowhere: ended with exit status 3 after the request {}; "
                   "it wrote: no heap for *** left");
         bool thrown = false;
         try {
           std::string again = "{}\n";
           co_await talk.ask(2, std::move(again), l.now() + patience);
         } catch (const no_server&) {
           thrown = true;
         }
         EXPECT_TRUE(thrown);
       });
}

TEST(Link, ALineThatIsNotOfTheProtocolIsTheEnd) {
  play(ready + "read call; echo 'Hello, I am a log line'; sleep 60",
       [](loop& l, link& talk) -> task<void> {
         co_await greeted(l, talk);
         std::string call = "{}\n";
         const auto first = co_await talk.ask(1, std::move(call), l.now() + patience);
         EXPECT_FALSE(first);
         EXPECT_EQ(talk.sentence(),
                   "exec/test on nowhere: wrote a line that is not of the protocol: it is not "
                   "JSON; the line: Hello, I am a log line; the request: {}");
       });
}

// Requests queue in bounded memory until the child is given up.
TEST(Link, AChildThatDoesNotReadIsTheEnd) {
  play(ready + "exec sleep 60", [](loop& l, link& talk) -> task<void> {
    co_await greeted(l, talk);
    std::uint64_t id = 0;
    while (!talk.dead() && id < 100) talk.tell(++id, std::string(100'000, 'x') + '\n');
    EXPECT_LT(id, 20U) << "1 MiB, and what the socket takes";
    EXPECT_EQ(talk.sentence().find("exec/test on nowhere: does not read its requests: 1"), 0U)
        << talk.sentence();
  });
}

TEST(Link, AProgramThatIsNotThereIsASentence) {
  const real_clock clock;
  loop l{clock};
  run_to_end(l, [](loop& on) -> task<void> {
    const std::vector<std::string> argv{"/nowhere/lock"};
    std::vector<std::string> secrets;
    link talk{on, argv, "exec/lock", std::move(secrets)};
    const std::string why = co_await refused_greeting(on, talk, patience);
    EXPECT_NE(why.find("cannot execute /nowhere/lock"), std::string::npos) << why;
    co_await talk.end();
  }(l));
}

// The last line of a child may come, with its end, between a look at the pipe and one at the child.
TEST(Link, WhatAChildSaysLastIsRead) {
  for (int n = 0; n < 200; ++n) {
    play("read hello; echo '{\"failed\":\"no server\"}'", [](loop& l, link& talk) -> task<void> {
      const std::string why = co_await refused_greeting(l, talk, patience);
      EXPECT_EQ(why, "exec/test on nowhere: no server");
    });
  }
}

TEST(Link, ASilentChildIsASentenceInTime) {
  play("read hello; exec sleep 60", [](loop& l, link& talk) -> task<void> {
    const time_point start = l.now();
    const std::string why = co_await refused_greeting(l, talk, 50ms);
    // What was left of the 50 ms when the child had been greeted.
    EXPECT_EQ(why.find("exec/test on nowhere: did not answer hello within 0.0"), 0U) << why;
    EXPECT_LT(l.now() - start, 5s);
  });
}

TEST(Link, HalfALineAtHelloIsQuoted) {
  play("read hello; printf '{\"ready\":tr'; exec sleep 60", [](loop& l, link& talk) -> task<void> {
    const std::string why = co_await refused_greeting(l, talk, 500ms);
    EXPECT_EQ(why,
              "exec/test on nowhere: did not answer hello within 0.5 s; it began a line: "
              "{\"ready\":tr");
  });
}

TEST(Link, WhatTheChildCouldNotReachIsItsSentence) {
  play("read hello; echo '{\"failed\":\"no route with pa55\"}'; read bye",
       [](loop& l, link& talk) -> task<void> {
         const std::string why = co_await refused_greeting(l, talk, patience);
         EXPECT_EQ(why, "exec/test on nowhere: no route with ***");
       });
}

// A child that ignores both the end of its input and SIGTERM.
TEST(Link, EndIsBounded) {
  const real_clock clock;
  const time_point start = clock.now();
  play("trap '' TERM; read hello; echo '{\"ready\":true}'; while :; do sleep 1; done", greeted);
  EXPECT_LT(clock.now() - start, 7s);
}

// Much standard error, kept only in part, does not stop the child from working.
TEST(Link, MuchStandardErrorIsReadAndForgotten) {
  play(ready +
           "read call; i=0; while [ $i -lt 4000 ]; do echo "
           "'a line of some sixty characters, as a logging library writes' >&2; "
           "i=$((i+1)); done; echo '{\"id\":1,\"outcome\":\"granted\"}'; read bye",
       [](loop& l, link& talk) -> task<void> {
         co_await greeted(l, talk);
         std::string call = "{}\n";
         const auto first = co_await talk.ask(1, std::move(call), l.now() + patience);
         EXPECT_TRUE(first);
         EXPECT_LT(talk.sentence("said").size(), 1000U);
       });
}

TEST(Child, ItsOwnChildrenEndWithIt) {
  const note pids;
  play(fmt::format("sleep 1000 & echo $! >{0}; echo $$ >>{0}; {1} exec cat >/dev/null", pids.path,
                   ready),
       greeted);
  for (const pid_t pid : pids.pids(2)) EXPECT_TRUE(ends_soon(pid)) << pid;
}

// The parent is killed as by kill -9: nothing can tidy up, and yet nothing is left.
TEST(Child, NothingOutlivesAKilledParent) {
  const note pids;
  const pid_t parent = fork();
  if (parent == 0) {
    const child c{shell(fmt::format(
        "trap '' HUP INT TERM; sleep 1000 & echo $! >{0}; echo $$ >>{0}; sleep 1000", pids.path))};
    while (true) pause();
  }
  const auto started = pids.pids(2);
  EXPECT_EQ(started.size(), 2U);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  for (const pid_t pid : started) EXPECT_TRUE(ends_soon(pid)) << pid;
}

// Or else a client could give its locks back between the death of lockmark and its own: an orderly
// end would be measured where a death was meant.
TEST(Child, AKilledParentDoesNotEndItsInput) {
  const note pids;
  const pid_t parent = fork();
  if (parent == 0) {
    const child c{shell(
        fmt::format("echo $PPID >{0}; echo $$ >>{0}; cat >/dev/null; echo 1 >>{0}", pids.path))};
    while (true) pause();
  }
  const auto started = pids.pids(2);
  const pid_t guard = started.empty() ? 0 : started[0];
  if (guard > 0) kill(guard, SIGSTOP);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  ASSERT_EQ(started.size(), 2U);
  // What must not happen can only be given time.
  for (int n = 0; n < 100; ++n) wait_a_moment();
  EXPECT_EQ(pids.pids(2).size(), 2U) << "its input has ended";
  kill(guard, SIGCONT);
  EXPECT_TRUE(ends_soon(started[1]));
}

// Sanitizers flush the standard output when the guard ends; it has the test's buffer from fork().
TEST(Child, WhatItsGuardFlushesDoesNotReachItsInput) {
  std::printf("not flushed\n");
  child c{shell("exit 3")};
  pollfd over{c.ended(), POLLIN, 0};
  EXPECT_EQ(poll(&over, 1, 10'000), 1);
  const auto status = c.status();
  ASSERT_TRUE(status);
  EXPECT_EQ(describe_status(*status), "ended with exit status 3");
}

TEST(Child, NothingOutlivesAKilledGuard) {
  const note pids;
  const child c{shell(fmt::format("echo $$ >{}; exec sleep 1000", pids.path))};
  const auto started = pids.pids(1);
  ASSERT_EQ(started.size(), 1U);
  kill(c.guard(), SIGKILL);
  EXPECT_TRUE(ends_soon(started[0]));
}

// Children start and end on several threads at once; none holds another's streams open.
TEST(Child, ManyAtOnceEndAlone) {
  const child first{shell("exec cat")};
  const child second{shell("exec cat")};
  const note pids;
  {
    child third{shell(fmt::format("echo $$ >{}; exec cat", pids.path))};
    const auto started = pids.pids(1);
    third.close_in();
    ASSERT_EQ(started.size(), 1U);
    EXPECT_TRUE(ends_soon(started[0])) << "somebody else holds its input open";
  }
}

TEST(Driver, NamesWhatToRunForAClientThatIsNotBuilt) {
  setenv("LOCKMARK_INTEROP", "/nowhere", 1);
  try {
    find_adapter("redisson");
    FAIL();
  } catch (const usage_error& e) {
    EXPECT_NE(std::string{e.what()}.find("deploy/interop/build redisson"), std::string::npos);
  }
  unsetenv("LOCKMARK_INTEROP");
}

TEST(Driver, RefusesTargetsThatTheClientDoesNotUnderstand) {
  const driver_setup setup{"mysql://u:pa55@h/db", {"r", {"k"}}, {}};
  try {
    make_driver(setup, {"exec/x", {"true"}, {"redis", "rediss"}, {}});
    FAIL();
  } catch (const usage_error& e) {
    EXPECT_STREQ(e.what(), "exec/x does not run on mysql: targets; it does on redis, rediss");
  }
}

TEST(Driver, RefusesWhatARealClientIsNotToldOf) {
  const note program;  // found as <folder>/kazoo/adapter
  const std::string folder = program.path + ".d/kazoo";
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("/bin/true", folder + "/adapter");
  setenv("LOCKMARK_INTEROP", (program.path + ".d").c_str(), 1);
  const lock_kind kazoo = kinds().back();
  EXPECT_NO_THROW(kazoo.make({"zookeeper://h", {"r", {"k"}}, {}}));
  EXPECT_THROW(kazoo.make({"zookeeper://h?tls=yes", {"r", {"k"}}, {}}), usage_error);
  unsetenv("LOCKMARK_INTEROP");
  std::filesystem::remove_all(program.path + ".d");
}

TEST(Driver, AnyProgramMustNameItsCommand) {
  const lock_kind any = kinds().front();
  EXPECT_THROW(any.make({"redis://h", {"r", {"k"}}, {}}), usage_error);
  EXPECT_TRUE(any.options[0].accepts("redis://h:1?password-env=PATH"));
  EXPECT_FALSE(any.options[0].accepts("redis://u:pa55@h:1")) << "options are stored in the open";
}

}  // namespace
}  // namespace lockmark::exec
