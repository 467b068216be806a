#include "harness/async/socket_watch.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "harness/async/scope.hpp"
#include "harness/async/signal.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark {
namespace {

using namespace std::chrono_literals;

struct ends {
  ends() {
    std::array<int, 2> both{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()) != 0) std::abort();
    near = unique_fd{both[0]};
    far = unique_fd{both[1]};
  }
  unique_fd near, far;
};

// What has been told of one socket.
struct note final : socket_watch::listener {
  note(loop& l, int fd) : watch(std::make_unique<socket_watch>(l, fd, *this)) {}
  void stirred(unsigned events) override {
    all |= events;
    ++times;
    if (ends_itself) watch.reset();
  }
  unsigned all = 0;
  int times = 0;
  bool ends_itself = false;
  std::unique_ptr<socket_watch> watch;
};

struct watched : testing::Test {
  real_clock clock;
  loop l{clock};

  static task<void> wait(loop& l, note& n, unsigned events) {
    const time_point limit = l.now() + 20s;
    while ((n.all & events) != events && l.now() < limit) co_await l.sleep_for(1ms);
  }
  // Lets the loop run until all of these events were told of.
  bool see(note& n, unsigned events) {
    run_to_end(l, wait(l, n, events));
    return (n.all & events) == events;
  }
  void run_for(duration d) { run_to_end(l, l.sleep_for(d)); }
};

void say(const unique_fd& to) {
  ASSERT_EQ(write(to.get(), "x", 1), 1);
}

// A new socket can be written to; then bytes come, then the end.
TEST_F(watched, is_told_of_all_that_happens) {
  ends pair;
  note n{l, pair.near.get()};
  EXPECT_TRUE(see(n, socket_watch::writable));
  EXPECT_EQ(n.all, socket_watch::writable);
  say(pair.far);
  EXPECT_TRUE(see(n, socket_watch::readable));
  n.all = 0;
  pair.far.reset();
  EXPECT_TRUE(see(n, socket_watch::readable));
}

// Bytes that nobody reads are told of once; further ones again.
TEST_F(watched, tells_once) {
  ends pair;
  note n{l, pair.near.get()};
  say(pair.far);
  EXPECT_TRUE(see(n, socket_watch::readable));
  const int told = n.times;
  run_for(20ms);
  EXPECT_EQ(n.times, told);
  n.all = 0;
  say(pair.far);
  EXPECT_TRUE(see(n, socket_watch::readable));
}

// A watch that has ended is told of nothing, nor is one that follows in its place of what came
// before; one may end while it is told.
TEST_F(watched, ends_at_once) {
  std::vector<std::unique_ptr<ends>> pairs;
  std::vector<std::unique_ptr<note>> notes;
  for (int i = 0; i < 100; ++i) {
    pairs.push_back(std::make_unique<ends>());
    notes.push_back(std::make_unique<note>(l, pairs.back()->near.get()));
    notes.back()->ends_itself = i % 2 == 0;
  }
  for (const auto& p : pairs) say(p->far);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (i % 4 == 3) notes[i]->watch.reset();
  }
  run_for(20ms);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (i % 2 == 0) {
      EXPECT_EQ(notes[i]->times, 1) << i;
    }
    if (i % 4 == 1) {
      EXPECT_NE(notes[i]->all & socket_watch::readable, 0U) << i;
    }
    if (i % 4 == 3) {
      EXPECT_EQ(notes[i]->times, 0) << i;
    }
  }
  ends fresh;
  note n{l, fresh.near.get()};
  EXPECT_TRUE(see(n, socket_watch::writable));
  EXPECT_EQ(n.all, socket_watch::writable);
}

// More sockets stir at once than one look can tell.
TEST_F(watched, hundreds_at_once) {
  std::vector<std::unique_ptr<ends>> pairs;
  std::vector<std::unique_ptr<note>> notes;
  for (int i = 0; i < 300; ++i) {
    pairs.push_back(std::make_unique<ends>());
    notes.push_back(std::make_unique<note>(l, pairs.back()->near.get()));
    say(pairs.back()->far);
  }
  for (const auto& n : notes) EXPECT_TRUE(see(*n, socket_watch::readable));
}

// Two sockets stir at once: who waits for the first goes on before the second is told of, so that
// its next request is not kept back by the reading of other answers.
TEST_F(watched, lets_who_waits_go_on_before_the_next_is_told) {
  std::vector<std::string> order;
  struct listening final : socket_watch::listener {
    listening(loop& on, int fd, std::vector<std::string>& into)
        : heard(on), order(into), watch(on, fd, *this) {}
    void stirred(unsigned) override {
      order.emplace_back("told");
      heard.set();
    }
    signal heard;
    std::vector<std::string>& order;
    socket_watch watch;
  };
  ends one, other;
  listening first{l, one.near.get(), order}, second{l, other.near.get(), order};
  const auto go_on = [](loop& on, listening& who) -> task<void> {
    if (co_await who.heard.wait_until(on.now() + 20s)) who.order.emplace_back("went on");
  };
  scope both{l};
  both.spawn(go_on(l, first));
  both.spawn(go_on(l, second));
  run_to_end(l, both.join());
  EXPECT_EQ(order, (std::vector<std::string>{"told", "went on", "told", "went on"}));
}

// What cannot be watched is an exception.
TEST_F(watched, refuses_what_is_no_socket) {
  EXPECT_THROW(note(l, -1), std::system_error);
}

}  // namespace
}  // namespace lockmark
