// A thousand instances in one process and one thread, against a real server.
#include <gmock/gmock.h>

#include <fstream>

#include "drivers/zookeeper/test_world.hpp"

namespace lockmark::zookeeper {
namespace {

constexpr std::uint32_t many = 1000;
constexpr std::uint32_t contenders = 100;
constexpr std::uint32_t common_key = many;

int threads_of_this_process() {
  std::ifstream about("/proc/self/status");
  std::string word;
  int count = 0;
  while (about >> word)
    if (word == "Threads:") about >> count;
  return count;
}

task<void> open_into(world& w, std::uint32_t number, std::unique_ptr<session>* opened) {
  instance who{.id = fmt::format("i{}", number),
               .number = number,
               .clients = 1,
               .session_timeout = seconds(20)};
  *opened = co_await w.backend->open(w.here, std::move(who), w.in(seconds(30)));
}

task<void> take_own_key(world& w, session& s, std::uint32_t number, int* granted) {
  const auto got = co_await s.acquire(w.ask(seconds(30), 0, number));
  if (got.done()) ++*granted;
}

task<void> take_common_key(world& w, session& s, int* inside, int* granted) {
  const auto got = co_await s.acquire(w.ask(seconds(30), 0, common_key));
  if (!got.done()) co_return;
  ++*granted;
  EXPECT_EQ(++*inside, 1);
  co_await w.here.yield();
  --*inside;
  const auto released = co_await s.release(w.ask(seconds(30), 0, common_key));
  EXPECT_TRUE(released.done());
}

task<void> close(session& s) {
  co_await s.close();
}

// Each instance has its own session; all hold a key at once, and some contend for one more.
TEST(many_sessions, share_one_thread) {
  world{sequential(), server_target(), many + 1}.run([](world& w) -> task<void> {
    const int threads_before = threads_of_this_process();
    std::vector<std::unique_ptr<session>> sessions(many);
    scope tasks{w.here};
    for (std::uint32_t i = 0; i < many; ++i) tasks.spawn(open_into(w, i, &sessions[i]));
    co_await tasks.join();

    int own = 0;
    for (std::uint32_t i = 0; i < many; ++i) tasks.spawn(take_own_key(w, *sessions[i], i, &own));
    co_await tasks.join();
    EXPECT_EQ(own, static_cast<int>(many));

    int inside = 0;
    int common = 0;
    for (std::uint32_t i = 0; i < contenders; ++i)
      tasks.spawn(take_common_key(w, *sessions[i * (many / contenders)], &inside, &common));
    co_await tasks.join();
    EXPECT_EQ(common, static_cast<int>(contenders));

    EXPECT_EQ(threads_of_this_process(), threads_before);
    for (const auto& s : sessions) tasks.spawn(close(*s));
    co_await tasks.join();
  });
}

}  // namespace
}  // namespace lockmark::zookeeper
