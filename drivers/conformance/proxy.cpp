#include "drivers/conformance/proxy.hpp"

#include <fmt/format.h>

#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <charconv>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

namespace lockmark::conformance {

using asio::ip::tcp;

// Everything but the constructor and set() runs on the proxy's thread.
class proxy::impl {
 public:
  impl(const std::string& host, std::uint16_t port);
  ~impl();

  void set(proxy_mode m);
  proxy_mode mode() const { return mode_; }
  std::uint16_t port() const { return here_.port(); }

 private:
  struct link;
  using link_ptr = std::shared_ptr<link>;
  struct pump;

  void change(proxy_mode m);
  void listen();
  void accept();
  void cut_all();

  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> keep_alive_{context_.get_executor()};
  std::optional<tcp::acceptor> acceptor_;
  tcp::endpoint server_;
  tcp::endpoint here_{asio::ip::address_v4::loopback(), 0};
  std::set<link_ptr> links_;
  std::atomic<proxy_mode> mode_{proxy_mode::pass};
  std::thread thread_;
};

// One client's connection, and the one made to the server on its behalf.
struct proxy::impl::link {
  explicit link(tcp::socket c) : client(std::move(c)), server(client.get_executor()) {}
  void close() {
    std::error_code ignored;
    client.close(ignored);
    server.close(ignored);
  }
  tcp::socket client;
  tcp::socket server;
};

// Carries bytes one way until either side ends.
struct proxy::impl::pump : std::enable_shared_from_this<pump> {
  pump(impl& o, link_ptr l, tcp::socket& f, tcp::socket& t, bool r)
      : of(o), on(std::move(l)), from(f), to(t), replies(r) {}

  void run() {
    from.async_read_some(asio::buffer(room), [self = shared_from_this()](auto error, auto size) {
      if (error) return self->end();
      self->carry(size);
    });
  }

  void carry(std::size_t size) {
    const proxy_mode mode = of.mode_;
    if (mode == proxy_mode::silent) return run();
    if (mode == proxy_mode::drop_replies && replies) return of.change(proxy_mode::cut);
    asio::async_write(to, asio::buffer(room, size), [self = shared_from_this()](auto error, auto) {
      if (error) return self->end();
      self->run();
    });
  }

  void end() {
    on->close();
    of.links_.erase(on);
  }

  impl& of;
  link_ptr on;
  tcp::socket& from;
  tcp::socket& to;
  const bool replies;
  std::array<char, 16384> room{};
};

proxy::impl::impl(const std::string& host, std::uint16_t port) {
  std::error_code error;
  const auto found = tcp::resolver{context_}.resolve(host, std::to_string(port), error);
  if (error || found.empty()) throw std::runtime_error(fmt::format("unknown host '{}'", host));
  server_ = found.begin()->endpoint();
  listen();
  thread_ = std::thread([this] { context_.run(); });
}

proxy::impl::~impl() {
  set(proxy_mode::cut);
  keep_alive_.reset();
  thread_.join();
}

void proxy::impl::set(proxy_mode m) {
  std::promise<void> done;
  asio::post(context_, [&] {
    change(m);
    done.set_value();
  });
  done.get_future().wait();
}

void proxy::impl::change(proxy_mode m) {
  const proxy_mode before = mode_.exchange(m);
  if (m == proxy_mode::cut) acceptor_.reset();
  if (m == proxy_mode::cut || before == proxy_mode::silent) cut_all();
  if (m != proxy_mode::cut && !acceptor_) listen();
}

// The first time on a free port, later on the same again.
void proxy::impl::listen() {
  acceptor_.emplace(context_, here_, /*reuse_addr=*/true);
  here_ = acceptor_->local_endpoint();
  accept();
}

void proxy::impl::accept() {
  acceptor_->async_accept([this](auto error, tcp::socket client) {
    if (error || !acceptor_) return;  // no longer listening
    const auto l = std::make_shared<link>(std::move(client));
    links_.insert(l);
    l->server.async_connect(server_, [this, l](auto failed) {
      if (failed) {
        l->close();
        links_.erase(l);
        return;
      }
      std::make_shared<pump>(*this, l, l->client, l->server, false)->run();
      std::make_shared<pump>(*this, l, l->server, l->client, true)->run();
    });
    accept();
  });
}

void proxy::impl::cut_all() {
  for (const link_ptr& l : links_) l->close();
  links_.clear();
}

proxy::proxy(const std::string& host, std::uint16_t port)
    : impl_(std::make_unique<impl>(host, port)) {}
proxy::~proxy() = default;

void proxy::set(proxy_mode m) {
  impl_->set(m);
}

proxy_mode proxy::mode() const {
  return impl_->mode();
}

std::string proxy::address() const {
  return fmt::format("127.0.0.1:{}", impl_->port());
}

url_parts split_url(const std::string& url) {
  const auto wrong = [] {
    return std::runtime_error("the suite needs a target like scheme://[user:password@]host:port");
  };
  url_parts parts;
  const auto scheme = url.find("://");
  if (scheme == std::string::npos) throw wrong();
  const auto authority = scheme + 3;
  const auto end = std::min(url.find_first_of("/?", authority), url.size());
  const auto at = url.rfind('@', end);
  const auto host = at == std::string::npos || at < authority ? authority : at + 1;
  const auto colon = url.find(':', host);
  if (colon == std::string::npos || colon > end) throw wrong();
  parts.scheme = url.substr(0, authority);
  parts.userinfo = url.substr(authority, host - authority);
  parts.host = url.substr(host, colon - host);
  parts.rest = url.substr(end);
  const char* const last = url.data() + end;
  const auto read = std::from_chars(url.data() + colon + 1, last, parts.port);
  if (read.ec != std::errc{} || read.ptr != last) throw wrong();
  return parts;
}

}  // namespace lockmark::conformance
