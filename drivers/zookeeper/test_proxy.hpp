// A TCP proxy on the test's own loop, for losing connections and answers on purpose.
#pragma once

#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <list>
#include <memory>

#include "harness/async/scope.hpp"

namespace lockmark::zookeeper {

class test_proxy {
 public:
  // Listens on a free port of 127.0.0.1 for connections to `server_port` there.
  test_proxy(loop& l, std::uint16_t server_port);
  ~test_proxy();

  std::uint16_t port() const;

  // From now on answers of the server are dropped, until cut() or the end.
  void drop_answers() { dropping_ = true; }
  // Ends every connection, and those that come until restore().
  void cut();
  void restore() { refusing_ = false; }

  // REQUIRES: called before the loop ends.
  task<void> stop();

 private:
  using socket = asio::basic_stream_socket<asio::ip::tcp, executor>;
  struct link;
  task<void> accept();
  static task<void> copy(test_proxy* self, std::shared_ptr<link> on, bool answers);

  loop& loop_;
  std::uint16_t server_port_;
  asio::basic_socket_acceptor<asio::ip::tcp, executor> acceptor_;
  std::list<std::weak_ptr<link>> links_;
  scope tasks_;
  bool dropping_ = false;
  bool refusing_ = false;
};

}  // namespace lockmark::zookeeper
