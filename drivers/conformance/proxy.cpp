#include "drivers/conformance/proxy.hpp"

#include <fmt/format.h>

#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

namespace lockmark::conformance {

using asio::ip::tcp;

// All but the constructor, mode() and set() runs on the proxies' thread.
class proxies::impl {
 public:
  explicit impl(const std::vector<config::host_port>& servers);
  ~impl();

  void set(proxy_mode m);
  void set_alone(std::size_t which, proxy_mode m);
  proxy_mode mode(std::size_t which) const { return doors_[which]->mode; }
  std::uint16_t port(std::size_t which) const { return doors_[which]->here.port(); }

 private:
  struct link;
  using link_ptr = std::shared_ptr<link>;
  struct pump;

  // The listening side of one server's proxy.
  struct door {
    tcp::endpoint server{};
    tcp::endpoint here{asio::ip::address_v4::loopback(), 0};
    std::optional<tcp::acceptor> acceptor{};  // always bound, so that nobody else gets the port ...
    bool listening = false;                   // ... but refuses connections unless it listens
    std::set<link_ptr> links{};
    std::vector<std::shared_ptr<pump>> holding{};  // pumps with bytes held back
    std::atomic<proxy_mode> mode{proxy_mode::pass};
    bool alone = false;  // its mode was set individually
  };

  void do_and_wait(std::function<void()> what);
  void change(door& d, proxy_mode m);
  void reply_dropped(door& by);
  void keep_port(door& d);
  void listen(door& d);
  void accept(door& d);
  static void cut_all(door& d);

  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> keep_alive_{context_.get_executor()};
  std::vector<std::unique_ptr<door>> doors_;
  std::thread thread_;
};

// One client's connection, and the matching one to the server.
struct proxies::impl::link {
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
struct proxies::impl::pump : std::enable_shared_from_this<pump> {
  pump(impl& o, door& d, link_ptr l, tcp::socket& f, tcp::socket& t, bool r)
      : of(o), at(d), on(std::move(l)), from(f), to(t), replies(r) {}

  void run() {
    from.async_read_some(asio::buffer(room), [self = shared_from_this()](auto error, auto size) {
      if (error) return self->end();
      self->carry(size);
    });
  }

  void carry(std::size_t size) {
    const proxy_mode mode = at.mode;
    if (mode == proxy_mode::silent) return run();
    if (mode == proxy_mode::hold) {
      kept = size;
      at.holding.push_back(shared_from_this());
      return;
    }
    if (mode == proxy_mode::drop_replies && replies) return of.reply_dropped(at);
    asio::async_write(to, asio::buffer(room, size), [self = shared_from_this()](auto error, auto) {
      if (error) return self->end();
      self->run();
    });
  }

  void end() {
    on->close();
    at.links.erase(on);
  }

  impl& of;
  door& at;
  link_ptr on;
  tcp::socket& from;
  tcp::socket& to;
  const bool replies;
  std::array<char, 16384> room{};
  std::size_t kept = 0;  // bytes of it held back until `hold` ends
};

proxies::impl::impl(const std::vector<config::host_port>& servers) {
  tcp::resolver names{context_};
  for (const auto& [host, port] : servers) {
    std::error_code error;
    const auto found = names.resolve(host, std::to_string(port), error);
    if (error || found.empty()) throw std::runtime_error(fmt::format("unknown host '{}'", host));
    doors_.push_back(std::make_unique<door>());
    doors_.back()->server = found.begin()->endpoint();
    keep_port(*doors_.back());
    listen(*doors_.back());
  }
  thread_ = std::thread([this] { context_.run(); });
}

proxies::impl::~impl() {
  set(proxy_mode::cut);
  keep_alive_.reset();
  thread_.join();
}

void proxies::impl::set(proxy_mode m) {
  do_and_wait([&] {
    for (const auto& d : doors_) {
      d->alone = false;
      change(*d, m);
    }
  });
}

void proxies::impl::set_alone(std::size_t which, proxy_mode m) {
  do_and_wait([&] {
    doors_[which]->alone = true;
    change(*doors_[which], m);
  });
}

void proxies::impl::do_and_wait(std::function<void()> what) {
  std::promise<void> done;
  asio::post(context_, [&] {
    what();
    done.set_value();
  });
  done.get_future().wait();
}

void proxies::impl::change(door& d, proxy_mode m) {
  const proxy_mode before = d.mode.exchange(m);
  if (m == proxy_mode::cut) keep_port(d);
  if (m == proxy_mode::cut || before == proxy_mode::silent) cut_all(d);
  if (m != proxy_mode::cut && !d.listening) listen(d);
  for (const auto& p : std::exchange(d.holding, {})) p->carry(p->kept);
}

void proxies::impl::reply_dropped(door& by) {
  if (by.alone) return change(by, proxy_mode::cut);
  for (const auto& d : doors_) {
    if (!d->alone) change(*d, proxy_mode::cut);
  }
}

// A free port the first time, the same port afterwards: bound before the old socket is closed, or
// else an outgoing connection could get the port in between.
void proxies::impl::keep_port(door& d) {
  using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
  tcp::acceptor next(context_);
  next.open(d.here.protocol());
  next.set_option(tcp::acceptor::reuse_address(true));
  next.set_option(reuse_port(true));
  next.bind(d.here);
  if (d.here.port() == 0) d.here = next.local_endpoint();  // other threads read it from now on
  d.listening = false;
  d.acceptor.emplace(std::move(next));
}

void proxies::impl::listen(door& d) {
  d.acceptor->listen();
  d.listening = true;
  accept(d);
}

void proxies::impl::accept(door& d) {
  d.acceptor->async_accept([this, &d](auto error, tcp::socket client) {
    if (error || !d.listening) return;
    const auto l = std::make_shared<link>(std::move(client));
    d.links.insert(l);
    l->server.async_connect(d.server, [this, &d, l](auto failed) {
      if (failed) {
        l->close();
        d.links.erase(l);
        return;
      }
      std::make_shared<pump>(*this, d, l, l->client, l->server, false)->run();
      std::make_shared<pump>(*this, d, l, l->server, l->client, true)->run();
    });
    accept(d);
  });
}

void proxies::impl::cut_all(door& d) {
  for (const link_ptr& l : d.links) l->close();
  d.links.clear();
}

proxies::proxies(const std::vector<config::host_port>& servers)
    : impl_(std::make_unique<impl>(servers)) {}
proxies::~proxies() = default;

void proxies::set(proxy_mode m) {
  impl_->set(m);
}

void proxies::set(std::size_t which, proxy_mode m) {
  impl_->set_alone(which, m);
}

proxy_mode proxies::mode(std::size_t which) const {
  return impl_->mode(which);
}

config::host_port proxies::address(std::size_t which) const {
  return {"127.0.0.1", impl_->port(which)};
}

}  // namespace lockmark::conformance
