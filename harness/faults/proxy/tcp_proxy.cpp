#include "harness/faults/proxy/tcp_proxy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "harness/faults/proxy/sockets.hpp"
#include "harness/faults/proxy/watchword.hpp"

namespace lockmark::faults {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t room_size = 64 * 1024;
constexpr int backlog = 4096;
constexpr std::uint32_t readable = EPOLLIN;
constexpr std::uint32_t writable = EPOLLOUT;
constexpr duration longest_wait = 1h;
// Descriptors freed by other code cause no event here, so accepting is retried at this interval.
constexpr duration pause_of_accepting = 1s;

}  // namespace

// One client's connection, and the one made to the server on its behalf.
struct tcp_proxy::connection {
  std::uint64_t number = 0;
  link* at = nullptr;
  unique_fd client, server;
  std::uint32_t client_events = 0, server_events = 0;  // watched by epoll; 0: not at all
  bool connecting = true;
  half_connection up, down;  // from the client, from the server
  std::string tail;          // see count_word
  std::uint64_t asked = 0;   // requests of the awaited kind, not answered yet
  bool held = false;         // at that reply
};

// The listening side for one server's clients.
struct tcp_proxy::link {
  std::size_t number = 0;
  address server;
  std::uint16_t here = 0;
  unique_fd door;  // always bound, so that no other process takes the port
  std::uint32_t door_events = 0;
  link_mode mode = link_mode::pass;
  duration by{};
  link_latency latency{};
  std::string word;    // empty: nothing is awaited
  std::string answer;  // the reply that counts; empty: any
  std::uint64_t to_come = 0;

  duration delay() const { return latency.least + (mode == link_mode::delay ? by : 0ns); }
  bool late() const { return delay() > 0ns || latency.jitter > 0ns; }
};

tcp_proxy::tcp_proxy(std::function<void(std::size_t)> on_hit)
    : on_hit_(std::move(on_hit)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      room_(room_size),
      random_(std::random_device{}()) {
  if (!epoll_) throw std::runtime_error(fmt::format("no epoll: {}", std::strerror(errno)));
}

tcp_proxy::~tcp_proxy() = default;

std::size_t tcp_proxy::open(const std::string& host, std::uint16_t port, std::uint16_t listen_on,
                            const link_latency& latency) {
  auto made = std::make_unique<link>();
  made->latency = latency;
  made->number = links_.size();
  made->server = resolve(host, port);
  made->here = listen_on;
  keep_port(*made);
  listen(*made);
  links_.push_back(std::move(made));
  return links_.size() - 1;
}

std::uint16_t tcp_proxy::port(std::size_t number) const {
  return links_.at(number)->here;
}

// First any free port, or the requested one; afterwards always the same. Linux cannot make a socket
// stop listening, so a new one replaces it. The new one is bound before the old one is closed
// (SO_REUSEPORT); otherwise an outgoing connection could get the port in between.
void tcp_proxy::keep_port(link& at) {
  unique_fd door{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  set_option(door.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  set_option(door.get(), SOL_SOCKET, SO_REUSEPORT, 1);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(at.here);
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  auto* const generic = reinterpret_cast<sockaddr*>(&here);
  if (bind(door.get(), generic, size) != 0 || getsockname(door.get(), generic, &size) != 0) {
    throw std::runtime_error(fmt::format("no proxy on port {}: {}", at.here, std::strerror(errno)));
  }
  at.here = ntohs(here.sin_port);
  at.door = std::move(door);
  at.door_events = 0;
}

void tcp_proxy::listen(link& at) {
  if (::listen(at.door.get(), backlog) != 0) {
    throw std::runtime_error(fmt::format("no proxy on port {}: {}", at.here, std::strerror(errno)));
  }
  watch_door(at);
}

// Clients of a stalled server wait in the door's listen queue, as do all clients when descriptors
// run out: watched, the door would report a failed accept again at once.
void tcp_proxy::watch_door(link& at) {
  if (at.mode == link_mode::cut) return;
  const bool waits = at.mode == link_mode::stall || accept_again_;
  want(at.door.get(), at.door_events, waits ? 0 : readable,
       at.number << 2 | static_cast<std::uint64_t>(role::door));
}

void tcp_proxy::pause_accepting() {
  accept_again_ = clock_.now() + pause_of_accepting;
  for (const auto& each : links_) watch_door(*each);
}

void tcp_proxy::go_on_accepting() {
  accept_again_.reset();
  for (const auto& each : links_) watch_door(*each);
}

// --- modes ---

// A list of their own, since some may end while they are gone through.
std::vector<tcp_proxy::connection*> tcp_proxy::connections_of(const link& at) const {
  std::vector<connection*> all;
  for (const auto& [number, c] : connections_) {
    if (c->at == &at) all.push_back(c.get());
  }
  return all;
}

void tcp_proxy::set(std::size_t number, link_mode mode, duration by) {
  link& at = *links_.at(number);
  const link_mode before = at.mode;
  at.mode = mode;
  at.by = by;
  // First refuses new connections: who sees the old ones break may connect at once.
  if (mode == link_mode::cut && before != link_mode::cut) keep_port(at);
  if (mode == link_mode::cut || before == link_mode::silent) cut_all(at);
  if (mode == link_mode::cut) return;
  if (before == link_mode::cut) listen(at);
  watch_door(at);
  for (connection* c : connections_of(at)) {
    if (mode == link_mode::pass) {
      c->up.hurry();
      c->down.hurry();
    }
    settle(*c);
  }
}

void tcp_proxy::cut_all(link& at) {
  for (connection* c : connections_of(at)) {
    abort_at_close(c->client.get());
    abort_at_close(c->server.get());
    drop(c->number);
  }
}

void tcp_proxy::await(std::size_t number, std::string word, std::uint64_t nth, std::string answer) {
  link& at = *links_.at(number);
  at.word = std::move(word);
  at.answer = std::move(answer);
  at.to_come = nth;
  for (connection* c : connections_of(at)) {
    c->tail.clear();
    c->asked = 0;
  }
}

void tcp_proxy::go(std::size_t number) {
  link& at = *links_.at(number);
  at.word.clear();
  for (connection* c : connections_of(at)) {
    c->held = false;
    settle(*c);
  }
}

bool tcp_proxy::frozen(const connection& c) const {
  return c.held || c.at->mode == link_mode::stall;
}

// --- carrying ---

void tcp_proxy::carry_until_readable(int other) {
  std::uint32_t has = 0;
  want(other, has, readable, static_cast<std::uint64_t>(role::other));
  bool spoken = false;
  std::array<epoll_event, 64> events;
  while (!spoken) {
    const auto wait_ns = std::min(until_due(), longest_wait).count();
    const timespec limit{wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
    const int count =
        epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()), &limit, nullptr);
    ++turns_;
    for (int n = 0; n < count; ++n) {
      const epoll_event& e = events[static_cast<std::size_t>(n)];
      spoken = spoken || e.data.u64 == static_cast<std::uint64_t>(role::other);
      happened(e.data.u64, e.events);
    }
    deliver_due();
  }
  want(other, has, 0, 0);
}

// A tag is the number of a link or connection, plus which of its sockets. An event may end the
// connection that the next event of the same batch refers to.
void tcp_proxy::happened(std::uint64_t tag, std::uint32_t events) {
  const auto whose = static_cast<role>(tag & 3);
  const std::uint64_t number = tag >> 2;
  if (whose == role::other) return;
  if (whose == role::door) return accept(*links_[number]);
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  connection& c = *found->second;
  if (frozen(c)) return;
  const bool at_client = whose == role::client;
  if (c.connecting) {
    if (!at_client) connected(c);
    return;
  }
  if ((events & writable) != 0) (at_client ? c.down : c.up).write_due(clock_.now());
  if ((events & (readable | EPOLLHUP | EPOLLERR)) != 0) {
    carry(c, at_client ? c.up : c.down, !at_client);
  }
  settle(c);
}

void tcp_proxy::accept(link& at) {
  if (at.mode == link_mode::stall || at.mode == link_mode::cut) return;
  if (accept_again_) return;  // in the same batch as the accept that ran out of descriptors
  // The server's socket comes first: an accepted client must be served.
  unique_fd server{
      socket(at.server.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!server) return pause_accepting();
  unique_fd client{accept4(at.door.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (!client) return is_shortage(errno) ? pause_accepting() : void();
  for (const int each : {client.get(), server.get()}) {
    set_option(each, IPPROTO_TCP, TCP_NODELAY, 1);
  }
  const int error = connect(server.get(), at.server.generic(), at.server.size);
  if (error != 0 && errno != EINPROGRESS) return abort_at_close(client.get());
  auto c = std::make_unique<connection>();
  c->number = ++last_number_;
  c->at = &at;
  c->up.join(client.get(), server.get());
  c->down.join(server.get(), client.get());
  c->client = std::move(client);
  c->server = std::move(server);
  connection& made = *c;
  connections_.emplace(made.number, std::move(c));
  settle(made);
}

void tcp_proxy::connected(connection& c) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(c.server.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    abort_at_close(c.client.get());
    return drop(c.number);
  }
  c.connecting = false;
  settle(c);
}

void tcp_proxy::carry(connection& c, half_connection& along, bool answers) {
  if (along.ended() || along.broken() || along.full()) return;
  const std::string_view bytes = along.read(room_);
  if (!bytes.empty()) return receive(c, along, bytes, answers);
  if (!along.ended()) return;
  if (!c.at->late()) return along.keep_end(time_point::min());
  const time_point due = due_for(*c.at);
  along.keep_end(due);
  due_.emplace(due, c.number);
}

void tcp_proxy::receive(connection& c, half_connection& along, std::string_view bytes,
                        bool answers) {
  if (c.at->mode == link_mode::silent) return;
  const bool any = c.at->mode == link_mode::hold_reply;
  if (answers && (any || (c.asked > 0 && is_awaited(c, bytes)))) {
    c.at->word.clear();
    c.held = true;
    along.keep(bytes, time_point::min());
    return on_hit_(c.at->number);
  }
  if (!answers && !c.at->word.empty()) watch_for_word(c, bytes);
  if (!c.at->late()) return along.pass_on(bytes);
  const time_point due = due_for(*c.at);
  along.keep(bytes, due);
  due_.emplace(due, c.number);
}

time_point tcp_proxy::due_for(const link& at) {
  const auto jitter = static_cast<double>(at.latency.jitter.count()) * random_.uniform01();
  return clock_.now() + at.delay() + duration{static_cast<std::int64_t>(jitter)};
}

void tcp_proxy::watch_for_word(connection& c, std::string_view bytes) {
  c.asked += count_word(c.at->word, c.tail, bytes);
}

// True if this answers the last request to come. One reply answers all requests that came in one
// piece.
bool tcp_proxy::is_awaited(connection& c, std::string_view answer) {
  link& at = *c.at;
  const std::uint64_t answered = std::exchange(c.asked, 0);
  if (at.word.empty() || answer.find(at.answer) == std::string_view::npos) return false;
  at.to_come -= std::min(at.to_come, answered);
  return at.to_come == 0;
}

// Runs after any event on a connection: writes what is due, drops it if it is over, and watches for
// the next events.
void tcp_proxy::settle(connection& c) {
  if (c.up.broken() || c.down.broken()) {
    abort_at_close(c.client.get());
    abort_at_close(c.server.get());
    return drop(c.number);
  }
  std::uint32_t client = 0, server = 0;
  if (!frozen(c) && c.connecting) server = writable;
  if (!frozen(c) && !c.connecting) {
    for (half_connection* each : {&c.up, &c.down}) {
      if (!each->empty() && !each->blocked()) each->write_due(clock_.now());
    }
    if (c.up.broken() || c.down.broken()) return settle(c);
    if (c.up.passed_end() && c.down.passed_end()) return drop(c.number);
    const bool late = c.at->late();
    const auto may_read = [late](const half_connection& w) {
      return !w.ended() && (late ? !w.full() : w.empty());
    };
    if (may_read(c.up)) client |= readable;
    if (may_read(c.down)) server |= readable;
    if (c.up.blocked()) server |= writable;
    if (c.down.blocked()) client |= writable;
  }
  want(c.client.get(), c.client_events, client,
       c.number << 2 | static_cast<std::uint64_t>(role::client));
  want(c.server.get(), c.server_events, server,
       c.number << 2 | static_cast<std::uint64_t>(role::server));
}

void tcp_proxy::drop(std::uint64_t number) {
  connections_.erase(number);  // closing takes the sockets out of epoll
  if (accept_again_) go_on_accepting();
}

// --- due later ---

duration tcp_proxy::until_due() const {
  time_point next = accept_again_.value_or(time_point::max());
  if (!due_.empty()) next = std::min(next, due_.top().first);
  if (next == time_point::max()) return longest_wait;
  return std::max<duration>(next - clock_.now(), 0ns);
}

void tcp_proxy::deliver_due() {
  if (accept_again_ && clock_.now() >= *accept_again_) go_on_accepting();
  if (due_.empty()) return;
  const time_point now = clock_.now();
  while (!due_.empty() && due_.top().first <= now) {
    const auto found = connections_.find(due_.top().second);
    due_.pop();
    if (found != connections_.end()) settle(*found->second);
  }
}

// A socket with no wanted events is not watched at all: epoll would keep reporting the other side's
// hang-up.
void tcp_proxy::want(int descriptor, std::uint32_t& has, std::uint32_t events, std::uint64_t tag) {
  if (has == events) return;
  epoll_event e{};
  e.events = events;
  e.data.u64 = tag;
  const int what = events == 0 ? EPOLL_CTL_DEL : has == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  epoll_ctl(epoll_.get(), what, descriptor, &e);
  has = events;
}

}  // namespace lockmark::faults
