// Hostile servers against the whole program: excessive announcements are refused in time and cost
// little memory. (The Redis driver's view of each, and of wrong replies: redis_answers_test.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "drivers/redis/fake_server.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using redis::fake_server;
using testing::HasSubstr;

// The first contact may take 5 s; the limit excludes a former bug that took 24 s.
constexpr duration hostile_limit = 12s;
// Without the floor, which is the harness's own.
constexpr long most_memory_kb = 100'000;

// The peak resident memory of any child. This program's children are clients of hostile servers.
long peak_memory_kb() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return used.ru_maxrss;
}

struct hostile {
  const char* name;
  std::string head;
  std::string body;  // sent repeatedly
  int pause_ms;      // before each one
  const char* complaint;
};

void PrintTo(const hostile& h, std::ostream* out) {
  *out << h.name;
}

std::string nested_arrays() {
  std::string all;
  for (int depth = 0; depth < 8; ++depth) all += "*1048576\r\n";
  return all;
}

class hostile_redis : public testing::TestWithParam<hostile> {
 protected:
  static bool harm(const fake_server::peer& to) {
    const hostile& h = GetParam();
    bool there = to.send(h.head);
    while (there) there = (h.pause_ms == 0 || to.pause(h.pause_ms)) && to.send(h.body);
    return false;
  }

  void expect_refusal(const fake_server& server, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"run",        "contended", "--on",
                                   server.url(), "--out",     (dir_ / "runs").string(),
                                   "--set",      "floor=0s"};
    words.insert(words.end(), more.begin(), more.end());
    const ended e = run(dir_.path(), std::move(words), hostile_limit);
    EXPECT_EQ(e.status, 2) << e.out;
    EXPECT_THAT(e.err, HasSubstr(server.url() + " " + GetParam().complaint));
    EXPECT_LT(peak_memory_kb(), most_memory_kb);
  }

  scratch dir_;
};

TEST_P(hostile_redis, is_refused_at_the_login) {
  const fake_server server(
      [](const fake_server::command&, const fake_server::peer& to) { return harm(to); });
  expect_refusal(server);
}

TEST_P(hostile_redis, is_refused_once_it_is_known) {
  const fake_server server([](const fake_server::command& c, const fake_server::peer& to) {
    return c.at(0) == "INFO" ? harm(to) : to.send(redis::usual_answer(c));
  });
  expect_refusal(server);
}

// Without the slow server, which is an ordinary outcome in a run.
class hostile_redis_in_a_run : public hostile_redis {};

// With the load on: all clients at once, and participants as well.
TEST_P(hostile_redis_in_a_run, is_refused) {
  const fake_server server([](const fake_server::command& c, const fake_server::peer& to) {
    return c.at(0) == "SET" && c.at(2) != "" ? harm(to) : to.send(redis::usual_answer(c));
  });
  expect_refusal(server, {"--set", "lock=redis/set_nx_px"});
  expect_refusal(server, {"--set", "lock=redis/set_nx_px", "--set", "participants=2"});
}

const hostile too_much[] = {
    {"nests_arrays", nested_arrays(), ":1\r\n", 0, "answers with more than a lock can need"},
    {"announces_much", "$2000000000\r\n", std::string(65536, 'x'), 0,
     "answers with more than a lock can need"},
    {"sends_a_line_without_end", "+", std::string(65536, 'x'), 0,
     "answers with more than a lock can need"},
};
const hostile too_slow{"trickles", "$2000\r\n", "x", 1000, "did not answer in time"};

std::string name_of_hostile(const testing::TestParamInfo<hostile>& with) {
  return with.param.name;
}

INSTANTIATE_TEST_SUITE_P(too_much, hostile_redis, testing::ValuesIn(too_much), name_of_hostile);
INSTANTIATE_TEST_SUITE_P(too_slow, hostile_redis, testing::Values(too_slow), name_of_hostile);
INSTANTIATE_TEST_SUITE_P(too_much, hostile_redis_in_a_run, testing::ValuesIn(too_much),
                         name_of_hostile);

}  // namespace
}  // namespace lockmark::cli
