// The process of the proxies: its timers, its refusals, and the words it looks for.
#include "harness/faults/proxy/process.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "harness/faults/proxy/proxy_fixture.hpp"
#include "harness/faults/proxy/serve.hpp"
#include "harness/faults/proxy/watchword.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::faults {
namespace {

// By default Linux wakes a thread up to 50 us late, on each way of each request.
TEST(serve_proxies, asks_to_be_woken_on_time) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const unique_fd in{ends[0]};
  close(ends[1]);
  const pid_t served = fork();
  if (served == 0) {
    serve_proxies(in.get(), in.get());
    _exit(prctl(PR_GET_TIMERSLACK));
  }
  int status = 0;
  ASSERT_EQ(waitpid(served, &status, 0), served);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1) << "ns";
}

TEST(proxy_process, says_what_it_cannot_do) {
  EXPECT_THROW(proxy_process({"/nowhere/proxy"}), proxy_error);
  proxy_process process({LOCKMARK_PROXY});
  EXPECT_THROW(process.open({"no such host", 1}), proxy_error);
}

// A link with a latency has it in every mode, and a delay comes on top.
TEST_F(proxies, keep_their_latency) {
  const proxied far = process_.open({"127.0.0.1", server_.port()}, 0, {40ms});
  const unique_fd client = connect_to(far.port);
  const unique_fd served = server_.accepted();
  const auto there_and_back = [&] {
    const time_point sent = clock_.now();
    say(client, "request");
    EXPECT_EQ(hear(served, 7), "request");
    say(served, "answer");
    EXPECT_EQ(hear(client, 6), "answer");
    return clock_.now() - sent;
  };
  const auto set_far = [&](link_mode mode, duration by) {
    run_to_end(loop_, process_.set(loop_, {far.link}, mode, by));
  };
  EXPECT_GE(there_and_back(), 80ms);
  set_far(link_mode::delay, 30ms);
  EXPECT_GE(there_and_back(), 140ms);
  set_far(link_mode::pass, 0ms);
  EXPECT_GE(there_and_back(), 80ms);
}

// Each message has a latency of its own: that twenty of them stay below 10 ms happens once in
// 10^12.
TEST_F(proxies, vary_their_latency) {
  const proxied far = process_.open({"127.0.0.1", server_.port()}, 0, {5ms, 20ms});
  const unique_fd client = connect_to(far.port);
  const unique_fd served = server_.accepted();
  duration longest{};
  for (int n = 0; n < 20; ++n) {
    const time_point sent = clock_.now();
    say(client, "message");
    EXPECT_EQ(hear(served, 7), "message");
    const duration took = clock_.now() - sent;
    EXPECT_GE(took, 5ms);
    longest = std::max(longest, took);
  }
  EXPECT_GE(longest, 10ms);
}

TEST(half_connection, lets_nothing_overtake) {
  half_connection half;
  half.keep("later", time_point{20ms});
  half.keep("sooner", time_point{10ms});
  half.write_due(time_point{15ms});
  EXPECT_FALSE(half.broken()) << "it wrote, and has no socket to write to";
  half.write_due(time_point{20ms});
  EXPECT_TRUE(half.broken());
}

TEST(count_word, counts_across_pieces) {
  std::string tail;
  EXPECT_EQ(count_word("SETNX", tail, "..SETNX..SET"), 1U);
  EXPECT_EQ(count_word("SETNX", tail, "N"), 0U);
  EXPECT_EQ(count_word("SETNX", tail, "XSETNX"), 2U);
  EXPECT_EQ(count_word("SETNX", tail, "SETNX"), 1U);
  EXPECT_EQ(count_word("aa", tail = "", "aaa"), 2U);
  EXPECT_EQ(count_word("aa", tail, "a"), 1U);
}

}  // namespace
}  // namespace lockmark::faults
