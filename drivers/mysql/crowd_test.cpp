// A thousand connections in one process, on one thread.
#include <gtest/gtest.h>

#include <fstream>

#include "drivers/mysql/server_fixture.hpp"

namespace lockmark::mysql {
namespace {

constexpr std::uint32_t crowd = 1000;

int threads_of_this_process() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int count = 0;
  while (status >> word) {
    if (word == "Threads:") status >> count;
  }
  return count;
}

struct thousand : server {
  thousand() {
    run.keys.clear();
    for (std::uint32_t i = 0; i < crowd; ++i) run.keys.push_back("k" + std::to_string(i));
    locks = make(target());
  }
};

struct tally {
  std::uint32_t granted = 0;
  std::uint32_t freed = 0;
};

task<void> take(server& s, session& in, std::uint32_t client, tally& all) {
  const auto got = co_await in.acquire(s.ask(client, 20s, client));
  all.granted += got.done() ? 1 : 0;
}

task<void> give(server& s, session& in, std::uint32_t client, tally& all) {
  const auto freed = co_await in.release(s.ask(client, 20s, client));
  all.freed += freed.done() ? 1 : 0;
}

task<void> hold_a_thousand(server& s) {
  const int threads_before = threads_of_this_process();
  const time_point start = s.l.now();
  const auto all = co_await s.open(crowd);
  tally done;
  scope takers{s.l};
  for (std::uint32_t i = 0; i < crowd; ++i) takers.spawn(take(s, *all, i, done));
  co_await takers.join();
  EXPECT_EQ(done.granted, crowd);
  EXPECT_EQ(threads_of_this_process(), threads_before);
  const std::string connected = co_await s.look(
      "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE "
      "VARIABLE_NAME='THREADS_CONNECTED'");
  EXPECT_GE(std::stoul(connected), crowd);
  scope givers{s.l};
  for (std::uint32_t i = 0; i < crowd; ++i) givers.spawn(give(s, *all, i, done));
  co_await givers.join();
  EXPECT_EQ(done.freed, crowd);
  EXPECT_TRUE(all->alive());
  EXPECT_EQ(all->sent().reconnects, 0U);
  EXPECT_LT(s.l.now() - start, 60s);
  co_await all->close();
}

// A thousand clients hold a thousand rows at once, each by its own connection; no thread is added.
TEST_F(thousand, connections_hold_their_rows_at_once) {
  play(hold_a_thousand);
}

}  // namespace
}  // namespace lockmark::mysql
