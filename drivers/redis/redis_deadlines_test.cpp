// Nothing new begins after a request's deadline; its grace is for answers. Observed at the server,
// by the commands that arrive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "drivers/redis/fake_server.hpp"
#include "drivers/redis/redis.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::Not;
using command = fake_server::command;
using peer = fake_server::peer;

constexpr duration soon = 100ms;
constexpr int too_late_ms = 250;  // after the deadline, and within the grace
constexpr duration grace = 2s;

// A server that can be made slow, and records the commands that it receives from then on.
class slow_server {
 public:
  // Answers `what` late, with `answer` if given.
  void be_slow(const std::string& what, const std::string& answer = {}) {
    const std::lock_guard guard{mutex_};
    slow_ = what;
    answer_ = answer;
    hangs_up_ = false;
    asked_.clear();
  }
  // Ends each connection at its next command, until it is slow.
  void hang_up() {
    const std::lock_guard guard{mutex_};
    hangs_up_ = true;
  }
  std::vector<std::string> asked() const {
    const std::lock_guard guard{mutex_};
    return asked_;
  }
  std::string url() const { return server_.url(); }

 private:
  bool serve(const command& c, const peer& to) {
    std::unique_lock guard{mutex_};
    asked_.push_back(c.at(0));
    if (hangs_up_) return false;
    const bool late = c.at(0) == slow_;
    const std::string said = late && !answer_.empty() ? answer_ : usual_answer(c);
    guard.unlock();
    return (!late || to.pause(too_late_ms)) && to.send(said);
  }

  mutable std::mutex mutex_;
  std::string slow_;
  std::string answer_;
  bool hangs_up_ = false;
  std::vector<std::string> asked_;
  const fake_server server_{[this](const command& c, const peer& to) { return serve(c, to); }};
};

struct attempt {
  outcome<grant> ending = doubt::connection_lost;
  duration took{};
};

task<void> acquire_once(loop& l, session& s, attempt& a) {
  const time_point start = l.now();
  const request r{.lease = 10s, .deadline = start + soon, .grace = grace};
  a.ending = co_await s.acquire(r);
  a.took = l.now() - start;
}

class deadlines : public testing::Test {
 protected:
  // An attempt by a session that is already open. `lost`: its connection has just broken.
  attempt try_once(const lock_kind& k, bool lost, const std::string& slow,
                   const std::string& answer = {}) {
    driver_setup setup{.target = server.url(), .run_names = {"test", {"a"}}, .options = {}};
    for (const auto& o : k.options) setup.options.emplace(o.name, o.preset);
    const auto d = k.make(setup);
    attempt a;
    run_to_end(l, whole(*d, lost, slow, answer, a));
    return a;
  }

  task<void> whole(driver& d, bool lost, std::string slow, std::string answer, attempt& a) {
    co_await d.prepare(l, l.now() + 5s);
    instance who{.id = "i"};
    const auto s = co_await d.open(l, std::move(who), l.now() + 5s);
    if (lost) {
      server.hang_up();
      co_await acquire_once(l, *s, a);
    }
    server.be_slow(slow, answer);
    co_await acquire_once(l, *s, a);
    co_await l.sleep_for(std::chrono::milliseconds{too_late_ms});
    seen = server.asked();
    co_await s->close();
  }

  slow_server server;
  real_clock clock;
  loop l{clock};
  std::vector<std::string> seen;  // by the server, during the attempt
};

// A connection that is established only after the deadline is not used for the attempt.
TEST_F(deadlines, hold_for_who_connects_again) {
  for (const lock_kind& k : kinds()) {
    if (!(std::string{k.topologies} + " ").starts_with("redis ")) continue;
    const attempt a = try_once(k, true, "CLIENT");
    EXPECT_TRUE(a.ending.refused()) << k.name;
    EXPECT_LT(a.took, grace) << k.name;
    EXPECT_THAT(seen, Contains("CLIENT")) << k.name;
    EXPECT_THAT(seen, Each(testing::StrEq("CLIENT"))) << k.name;
  }
}

// A client that comes too late knows no more about a dead server than one that comes in time: a
// refusal by the deadline would count as a sign of life.
TEST_F(deadlines, are_no_sign_of_life) {
  auto gone = std::make_unique<slow_server>();
  driver_setup setup{.target = gone->url(), .run_names = {"test", {"a"}}, .options = {}};
  const auto d = setnx().make(setup);
  const auto trial = [](loop& on, driver& asked, std::unique_ptr<slow_server>& there,
                        outcome<grant>& ending) -> task<void> {
    co_await asked.prepare(on, on.now() + 5s);
    instance who{.id = "i"};
    const auto s = co_await asked.open(on, std::move(who), on.now() + 5s);
    there.reset();
    attempt first;
    co_await acquire_once(on, *s, first);  // notices that the connection is gone
    const request late{.lease = 10s, .deadline = on.now(), .grace = grace};
    ending = co_await s->acquire(late);
    co_await s->close();
  };
  outcome<grant> ending = doubt::connection_lost;
  run_to_end(l, trial(l, *d, gone, ending));
  EXPECT_TRUE(ending.refused(refusal::unavailable));
}

struct late_answer {
  lock_kind kind;
  const char* slow;
  const char* answer;
  const char* next;    // the next command of a lock without a deadline
  const char* ending;  // done, refused, doubt
};

const char* ending_of(const outcome<grant>& o) {
  return o.done() ? "done" : o.refused() ? "refused" : "doubt";
}

// An answer within the grace counts, and no further command is sent.
TEST_F(deadlines, hold_for_every_step) {
  for (const late_answer& c : std::vector<late_answer>{
           {setnx(), "SETNX", ":1\r\n", "", "done"},
           {setnx(), "SETNX", ":0\r\n", "", "refused"},
           {setnx_expire(), "SETNX", ":1\r\n", "EXPIRE", "doubt"},
           {getset(), "SETNX", ":0\r\n", "GET", "refused"},
           {lua(), "EVALSHA", "-NOSCRIPT No matching script\r\n", "EVAL", "refused"},
           {redisson(), "EVALSHA", ":30000\r\n", "SUBSCRIBE", "refused"},
           {redisson(), "EVALSHA", "$-1\r\n", "", "done"}}) {
    const attempt a = try_once(c.kind, false, c.slow, c.answer);
    EXPECT_STREQ(ending_of(a.ending), c.ending) << c.kind.name << " " << c.answer;
    EXPECT_GE(a.took, soon) << c.kind.name;
    EXPECT_THAT(seen, Contains(c.slow)) << c.kind.name;
    EXPECT_THAT(seen, Not(Contains(c.next))) << c.kind.name;
  }
}

}  // namespace
}  // namespace lockmark::redis
