// A session connects its clients side by side, each within a time limit of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <asio/basic_socket_acceptor.hpp>
#include <asio/basic_stream_socket.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/write.hpp>
#include <vector>

#include "drivers/redis/redis.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

// A server that answers logins only once the wanted number of them are waiting.
class patient_server {
 public:
  patient_server(loop& l, std::size_t wanted, std::size_t logins)
      : tasks_(l), door_(l.context(), {asio::ip::address_v4::loopback(), 0}), wanted_(wanted) {
    tasks_.spawn(let_in(logins));
  }
  const std::string& url() const { return url_; }
  std::size_t most_waiting() const { return most_; }
  task<void> end() {
    std::error_code ignored;
    door_.close(ignored);
    return tasks_.join();
  }

 private:
  using socket = asio::basic_stream_socket<tcp, executor>;

  task<void> let_in(std::size_t logins) {
    std::error_code error;
    for (std::size_t i = 0; i < logins && !error; ++i) {
      socket client = co_await door_.async_accept(asio::redirect_error(use_task, error));
      std::array<char, 200> room;
      if (!error) co_await client.async_read_some(asio::buffer(room), use_task);
      waiting_.push_back(std::move(client));
      most_ = std::max(most_, waiting_.size());
      if (waiting_.size() == wanted_ || i + 1 == logins) answer_all();
    }
  }
  void answer_all() {
    std::error_code ignored;
    for (socket& each : waiting_) {
      asio::write(each, asio::buffer("+OK\r\n", 5), ignored);
      served_.push_back(std::move(each));
    }
    waiting_.clear();
  }

  scope tasks_;
  asio::basic_socket_acceptor<tcp, executor> door_;
  const std::string url_ = fmt::format("redis://127.0.0.1:{}", door_.local_endpoint().port());
  const std::size_t wanted_;
  std::size_t most_ = 0;
  std::vector<socket> waiting_, served_;
};

struct session_opening {
  instance who{.id = "one"};
  std::uint32_t told = 0;
  std::string failure;
};

task<void> open_and_close(loop& l, patient_server& server, session_opening& o) {
  const lock_kind kind = lua();
  driver_setup setup{.target = server.url(), .run_names = {"test", {"a"}}, .options = {}};
  for (const auto& option : kind.options) setup.options.emplace(option.name, option.preset);
  const auto d = kind.make(setup);
  o.who.on_login = [&o] { ++o.told; };
  try {
    const auto s = co_await d->open(l, o.who, l.now() + 60s);
    co_await s->close();
  } catch (const no_server& e) {
    o.failure = e.what();
  }
  co_await server.end();
}

// With one login after another, the first would never be answered.
TEST(opening_a_session, logs_its_clients_in_side_by_side) {
  real_clock clock;
  loop l{clock};
  patient_server server(l, 8, 20);
  session_opening o;
  o.who.clients = 20;
  o.who.logins = 8;
  run_to_end(l, open_and_close(l, server, o));
  EXPECT_EQ(o.failure, "");
  EXPECT_EQ(server.most_waiting(), 8U);
  EXPECT_EQ(o.told, 20U);
}

// A server that wants more logins than that: each login has its own time limit, the session a
// longer one.
TEST(opening_a_session, ends_with_the_first_login_that_is_not_answered) {
  real_clock clock;
  loop l{clock};
  patient_server server(l, 9, 20);
  session_opening o;
  o.who.clients = 20;
  o.who.logins = 8;
  o.who.login_within = 50ms;
  run_to_end(l, open_and_close(l, server, o));
  EXPECT_EQ(o.failure, server.url() + " did not answer in time");
  EXPECT_EQ(o.told, 0U);
}

}  // namespace
}  // namespace lockmark::redis
