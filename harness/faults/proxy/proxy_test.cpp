// The proxies as a separate process between real sockets: each mode, the awaited reply, and what
// happens when they die or their parent does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <future>
#include <memory>
#include <thread>

#include "harness/async/scope.hpp"
#include "harness/faults/proxy/proxy_fixture.hpp"

// For ThreadSanitizer. One test is a parent that dies: a child forked from this process, which has
// threads, starts a thread itself.
extern "C" const char* __tsan_default_options() {
  return "die_after_fork=0";
}

namespace lockmark::faults {
namespace {

using testing::HasSubstr;

TEST_F(proxies, pass_bytes_both_ways) {
  const auto [client, served] = join();
  say(client, "request");
  EXPECT_EQ(hear(served, 7), "request");
  say(served, "answer");
  EXPECT_EQ(hear(client, 6), "answer");
}

// More than all buffers on the way can hold, to a slow receiver.
TEST_F(proxies, pass_much_in_order) {
  const auto [client, served] = join();
  std::string much;
  while (much.size() < 20'000'000) much += std::to_string(much.size());
  std::thread sender([&, &from = client] { say(from, much); });
  EXPECT_EQ(hear(served, much.size()), much);
  sender.join();
}

TEST_F(proxies, pass_the_end_of_one_side_and_let_the_other_speak) {
  const auto [client, served] = join();
  say(client, "last");
  shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(hear(served, 100), "last");
  say(served, "answer");
  EXPECT_EQ(hear(client, 6), "answer");
}

TEST_F(proxies, break_connections_and_refuse_new_ones_when_cut) {
  const auto [client, served] = join();
  set(link_mode::cut);
  EXPECT_TRUE(has_ended(client));
  EXPECT_TRUE(has_ended(served));
  EXPECT_FALSE(connect_to(link_.port));
  set(link_mode::pass);
  const auto [again, served_again] = join();
  say(again, "x");
  EXPECT_EQ(hear(served_again, 1), "x");
}

TEST_F(proxies, hold_everything_back_when_stalled_and_deliver_it_later) {
  const auto [client, served] = join();
  set(link_mode::stall);
  say(client, "request");
  say(served, "answer");
  const unique_fd newcomer = connect_to(link_.port);
  EXPECT_TRUE(newcomer);
  EXPECT_FALSE(readable_within(served, 50ms));
  EXPECT_FALSE(readable_within(client, 0ms));
  EXPECT_FALSE(server_.accepted(0ms));
  set(link_mode::pass);
  EXPECT_EQ(hear(served, 7), "request");
  EXPECT_EQ(hear(client, 6), "answer");
  EXPECT_TRUE(server_.accepted());
}

// A client's death during the stall is noticed afterwards, behind the bytes it had sent.
TEST_F(proxies, deliver_also_the_end_after_a_stall) {
  auto [client, served] = join();
  set(link_mode::stall);
  say(client, "last");
  client.reset();
  EXPECT_FALSE(readable_within(served, 50ms));
  set(link_mode::pass);
  EXPECT_EQ(hear(served, 4), "last");
  EXPECT_TRUE(has_ended(served));
}

TEST_F(proxies, deliver_late_and_in_order_when_delayed) {
  const auto [client, served] = join();
  set(link_mode::delay, 60ms);
  const time_point sent = clock_.now();
  say(client, "a");
  poll(nullptr, 0, 20);
  say(client, "b");
  EXPECT_EQ(hear(served, 1), "a");
  EXPECT_GE(clock_.now() - sent, 60ms);
  EXPECT_EQ(hear(served, 1), "b");
  EXPECT_GE(clock_.now() - sent, 80ms);
  say(served, "c");
  shutdown(served.get(), SHUT_WR);
  EXPECT_EQ(hear(client, 100), "c");
  EXPECT_GE(clock_.now() - sent, 140ms);
}

TEST_F(proxies, deliver_what_was_delayed_at_once_when_they_pass_again) {
  const auto [client, served] = join();
  set(link_mode::delay, 1h);
  say(client, "a");
  EXPECT_FALSE(readable_within(served, 50ms));
  set(link_mode::pass);
  say(client, "b");
  EXPECT_EQ(hear(served, 2), "ab");
}

// A fault on one link does not affect another.
TEST_F(proxies, keep_links_apart) {
  const proxied other = process_.open({"127.0.0.1", server_.port()});
  EXPECT_NE(other.port, link_.port);
  set(link_mode::cut);
  EXPECT_TRUE(connect_to(other.port));
  EXPECT_FALSE(connect_to(link_.port));
}

class awaited_answers : public proxies {
 protected:
  // Waits in the loop on another thread, as a run does, while the test plays both ends.
  void await(std::string word, std::uint64_t nth, duration limit = patience,
             std::string answer = "") {
    const auto known = std::make_shared<std::promise<void>>();
    waiting_ = std::thread([this, word, nth, limit, answer, known] {
      scope both{loop_};
      both.spawn(wait(word, nth, clock_.now() + limit, answer));
      both.spawn(tell(known));
      loop_.run();
      both.rethrow_failure();
    });
    known->get_future().wait();
  }
  // The process obeys commands in order: once it replies to this one, it knows of the wait.
  task<void> tell(std::shared_ptr<std::promise<void>> known) {
    co_await process_.go(loop_, {});
    known->set_value();
  }
  task<void> wait(std::string word, std::uint64_t nth, time_point deadline, std::string answer) {
    try {
      task<std::ptrdiff_t> hit =
          process_.await(loop_, {link_.link}, std::move(word), nth, deadline, std::move(answer));
      hit_ = co_await std::move(hit);
    } catch (const proxy_error& error) {
      error_ = error.what();
    }
  }
  void TearDown() override {
    if (waiting_.joinable()) waiting_.join();
  }

  std::thread waiting_;
  std::ptrdiff_t hit_ = -2;
  std::string error_;
};

// The n-th request reaches its server, and its reply is held back until go().
TEST_F(awaited_answers, are_held_back_until_told_to_go_on) {
  const auto [client, served] = join();
  const auto [other, other_served] = join();
  await("SETNX", 2);
  say(client, "SETNX");
  EXPECT_EQ(hear(served, 5), "SETNX");
  say(served, "1");
  EXPECT_EQ(hear(client, 1), "1");
  say(client, "..SET");
  EXPECT_EQ(hear(served, 5), "..SET");
  say(client, "NX..");
  EXPECT_EQ(hear(served, 4), "NX..");
  say(served, "2");
  waiting_.join();
  EXPECT_EQ(hit_, static_cast<std::ptrdiff_t>(link_.link));
  EXPECT_FALSE(readable_within(client, 50ms));
  say(client, "next");
  EXPECT_FALSE(readable_within(served, 50ms));
  say(other, "SETNX");
  EXPECT_EQ(hear(other_served, 5), "SETNX");
  say(other_served, "3");
  EXPECT_EQ(hear(other, 1), "3");
  run_to_end(loop_, process_.go(loop_, {link_.link}));
  EXPECT_EQ(hear(client, 1), "2");
  EXPECT_EQ(hear(served, 4), "next");
}

// Only requests with the right reply count.
TEST_F(awaited_answers, are_told_from_others_by_what_they_say) {
  const auto [loser, refused] = join();
  const auto [winner, granted] = join();
  await("SETNX", 1, patience, ":1");
  say(loser, "SETNX");
  say(winner, "SETNX");
  EXPECT_EQ(hear(refused, 5), "SETNX");
  EXPECT_EQ(hear(granted, 5), "SETNX");
  say(refused, ":0");
  EXPECT_EQ(hear(loser, 2), ":0");
  say(granted, ":1");
  waiting_.join();
  EXPECT_EQ(hit_, static_cast<std::ptrdiff_t>(link_.link));
  EXPECT_FALSE(readable_within(winner, 50ms));
  run_to_end(loop_, process_.go(loop_, {link_.link}));
  EXPECT_EQ(hear(winner, 2), ":1");
}

TEST_F(awaited_answers, that_never_come_are_waited_for_until_the_deadline) {
  const auto [client, served] = join();
  await("SETNX", 1, 200ms);
  waiting_.join();
  EXPECT_EQ(hit_, -1);
  say(client, "SETNX");
  EXPECT_EQ(hear(served, 5), "SETNX");
  say(served, "1");
  EXPECT_EQ(hear(client, 1), "1");
}

// If the link is cut while a reply is held back, none of the reply gets through.
TEST_F(awaited_answers, are_lost_when_the_link_is_cut) {
  const auto [client, served] = join();
  await("GET", 1);
  say(client, "GET");
  EXPECT_EQ(hear(served, 3), "GET");
  say(served, "1");
  waiting_.join();
  EXPECT_EQ(hit_, static_cast<std::ptrdiff_t>(link_.link));
  set(link_mode::cut);
  run_to_end(loop_, process_.go(loop_, {link_.link}));
  EXPECT_EQ(hear(client, 1), "");
}

TEST_F(awaited_answers, fail_when_the_proxies_die) {
  const auto [client, served] = join();
  await("GET", 1);
  kill(process_.pid(), SIGKILL);
  waiting_.join();
  EXPECT_THAT(error_, HasSubstr("the proxies have died"));
}

// Nothing hangs: clients and servers see a broken connection, the parent an error.
TEST_F(proxies, that_die_break_their_connections) {
  const auto [client, served] = join();
  kill(process_.pid(), SIGKILL);
  EXPECT_TRUE(has_ended(client));
  EXPECT_TRUE(has_ended(served));
  EXPECT_THROW(set(link_mode::cut), proxy_error);
  EXPECT_THROW(process_.open({"127.0.0.1", 1}), proxy_error);
}

task<void> outlive(loop& l, const proxy_process& process) {
  while (process.lives()) co_await l.sleep_for(1ms);
  co_await l.sleep_for(1ms);
}

// The proxies stop listening before they die: whoever could not ask is gone when they do.
TEST_F(proxies, that_die_wake_nobody_who_could_not_ask) {
  const char* const deaf = "shutdown STDIN, 0; kill STOP => $$; exit";
  proxy_process dying({"/usr/bin/perl", "-e", deaf});
  siginfo_t stopped{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(dying.pid()), &stopped, WSTOPPED), 0);
  EXPECT_THROW(run_to_end(loop_, dying.set(loop_, {0}, link_mode::cut)), proxy_error);
  kill(dying.pid(), SIGCONT);
  run_to_end(loop_, outlive(loop_, dying));
}

TEST_F(proxies, die_with_their_parent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const unique_fd out{ends[0]};
  unique_fd in{ends[1]};
  const pid_t parent = fork();
  if (parent == 0) {
    proxy_process own({LOCKMARK_PROXY});
    const std::uint16_t port = own.open({"127.0.0.1", server_.port()}).port;
    if (write(in.get(), &port, sizeof port) != sizeof port) _exit(1);
    for (;;) pause();
  }
  in = unique_fd{};  // so that the other process's death is an end of file, not silence
  std::uint16_t port = 0;
  ASSERT_EQ(read(out.get(), &port, sizeof port), static_cast<ssize_t>(sizeof port));
  const unique_fd client = connect_to(port);
  ASSERT_TRUE(client);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(has_ended(client));
  // A dying process closes its descriptors one after the other; the door may be the last.
  while (const unique_fd late = connect_to(port)) ASSERT_TRUE(has_ended(late));
}

}  // namespace
}  // namespace lockmark::faults
