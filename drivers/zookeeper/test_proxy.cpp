#include "drivers/zookeeper/test_proxy.hpp"

#include <asio/redirect_error.hpp>
#include <asio/write.hpp>
#include <string>

namespace lockmark::zookeeper {

using asio::ip::tcp;

struct test_proxy::link {
  explicit link(loop& l) : client(l.context()), server(l.context()) {}
  socket client;
  socket server;

  void close() {
    std::error_code ignored;
    client.close(ignored);
    server.close(ignored);
  }
};

test_proxy::test_proxy(loop& l, std::uint16_t server_port)
    : loop_(l),
      server_port_(server_port),
      acceptor_(l.context(), tcp::endpoint{asio::ip::address_v4::loopback(), 0}),
      tasks_(l) {
  tasks_.spawn(accept());
}

test_proxy::~test_proxy() = default;

std::uint16_t test_proxy::port() const {
  return acceptor_.local_endpoint().port();
}

void test_proxy::cut() {
  refusing_ = true;
  dropping_ = false;
  for (const auto& weak : links_)
    if (const auto on = weak.lock()) on->close();
  links_.clear();
}

task<void> test_proxy::stop() {
  std::error_code ignored;
  acceptor_.close(ignored);
  cut();
  co_await tasks_.join();
}

task<void> test_proxy::accept() {
  std::error_code error;
  while (true) {
    const auto on = std::make_shared<link>(loop_);
    co_await acceptor_.async_accept(on->client, asio::redirect_error(use_task, error));
    if (error) co_return;
    if (refusing_) continue;
    on->server.connect(tcp::endpoint{asio::ip::address_v4::loopback(), server_port_}, error);
    if (error) continue;
    links_.push_back(on);
    tasks_.spawn(copy(this, on, false));
    tasks_.spawn(copy(this, on, true));
  }
}

task<void> test_proxy::copy(test_proxy* self, std::shared_ptr<link> on, bool answers) {
  socket& from = answers ? on->server : on->client;
  socket& to = answers ? on->client : on->server;
  std::string part(16384, '\0');
  std::error_code error;
  while (true) {
    const std::size_t size =
        co_await from.async_read_some(asio::buffer(part), asio::redirect_error(use_task, error));
    if (error) break;
    if (answers && self->dropping_) continue;
    co_await asio::async_write(to, asio::buffer(part.data(), size),
                               asio::redirect_error(use_task, error));
    if (error) break;
  }
  on->close();
}

}  // namespace lockmark::zookeeper
