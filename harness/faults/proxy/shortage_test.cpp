// The proxies without free file descriptors: clients wait; none is refused and none causes
// wake-ups.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "harness/faults/proxy/tcp_proxy.hpp"

namespace lockmark::faults {
namespace {

unique_fd new_socket() {
  return unique_fd{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
}

sockaddr_in at_port(std::uint16_t port) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return where;
}

// All on one thread: the board carries until a timer fires.
class shortage : public testing::Test {
 protected:
  shortage() : board_([](std::size_t) {}) {
    getrlimit(RLIMIT_NOFILE, &before_);
    sockaddr_in here = at_port(0);
    socklen_t size = sizeof here;
    auto* generic = reinterpret_cast<sockaddr*>(&here);
    EXPECT_EQ(bind(server_.get(), generic, size), 0);
    EXPECT_EQ(listen(server_.get(), 16), 0);
    EXPECT_EQ(getsockname(server_.get(), generic, &size), 0);
    link_ = board_.open("127.0.0.1", ntohs(here.sin_port));
    for (unique_fd& each : clients_) each = new_socket();
  }
  ~shortage() override { setrlimit(RLIMIT_NOFILE, &before_); }

  // Leaves `room` descriptors free.
  void leave(int room) {
    while (true) {
      unique_fd each = new_socket();
      const bool has_no_holes = each.get() > server_.get() && each.get() > clients_.back().get();
      fillers_.push_back(std::move(each));
      if (has_no_holes && fillers_.size() >= 8) break;
    }
    low_ = before_;
    low_.rlim_cur = static_cast<rlim_t>(fillers_.back().get()) + 1;
    setrlimit(RLIMIT_NOFILE, &low_);
    for (int i = 0; i < room; ++i) fillers_.pop_back();
  }

  void connect_all() {
    const sockaddr_in where = at_port(board_.port(link_));
    const auto* generic = reinterpret_cast<const sockaddr*>(&where);
    for (const unique_fd& each : clients_) {
      EXPECT_EQ(connect(each.get(), generic, sizeof where), 0) << "the queue of the door takes it";
    }
  }

  // Carries for 50 ms; returns the number of the board's wake-ups.
  std::uint64_t carry() {
    const std::uint64_t so_far = board_.turns();
    const itimerspec soon{{}, {0, 50'000'000}};
    timerfd_settime(timer_.get(), 0, &soon, nullptr);
    board_.carry_until_readable(timer_.get());
    std::uint64_t fired = 0;
    EXPECT_EQ(read(timer_.get(), &fired, sizeof fired), static_cast<ssize_t>(sizeof fired));
    return board_.turns() - so_far;
  }

  // The connections that the proxies have made to the server since the last call.
  std::vector<unique_fd> served() {
    setrlimit(RLIMIT_NOFILE, &before_);
    std::vector<unique_fd> all;
    while (true) {
      unique_fd one{accept4(server_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (!one) break;
      all.push_back(std::move(one));
    }
    setrlimit(RLIMIT_NOFILE, &low_);
    return all;
  }

  static void reset(unique_fd& client) {
    const linger at_once{1, 0};
    setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    client.reset();
  }

  rlimit before_{}, low_{};
  unique_fd server_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  unique_fd timer_{timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  tcp_proxy board_;
  std::size_t link_ = 0;
  std::array<unique_fd, 3> clients_;
  std::vector<unique_fd> fillers_;
};

// A listener that cannot be accepted from stays readable: watching it would wake the board all the
// time.
TEST_F(shortage, lets_clients_wait_without_waking_up_for_them) {
  leave(2);
  connect_all();
  EXPECT_LT(carry(), 10U);
  const auto first = served();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_LT(carry(), 10U);
  EXPECT_EQ(served().size(), 0U);
}

// One free descriptor is not enough: the client waits; it is not accepted and then dropped.
TEST_F(shortage, lets_nobody_in_whom_it_cannot_serve) {
  leave(1);
  connect_all();
  EXPECT_LT(carry(), 10U);
  char byte = 0;
  for (const unique_fd& each : clients_) {
    EXPECT_EQ(recv(each.get(), &byte, 1, MSG_DONTWAIT), -1);
    EXPECT_EQ(errno, EAGAIN) << "still connected";
  }
}

// As soon as a connection ends, the next one is accepted and works.
TEST_F(shortage, goes_on_when_a_connection_has_ended) {
  leave(2);
  connect_all();
  carry();
  const auto first = served();
  ASSERT_EQ(first.size(), 1U);
  reset(clients_[0]);
  EXPECT_LT(carry(), 10U);
  const auto second = served();
  ASSERT_EQ(second.size(), 1U);
  ASSERT_EQ(send(clients_[1].get(), "ping", 4, MSG_NOSIGNAL), 4);
  carry();
  std::array<char, 8> room;
  EXPECT_EQ(recv(second[0].get(), room.data(), room.size(), MSG_DONTWAIT), 4);
}

}  // namespace
}  // namespace lockmark::faults
