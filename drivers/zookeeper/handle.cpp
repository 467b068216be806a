// Properties of the C client that shape this file:
//   * it handles one message per zookeeper_process, and sends each request as it is made, so in
//     an established session zookeeper_interest is only needed for pings and time-outs;
//   * it closes its socket inside zookeeper_process, zookeeper_interest and a request that it
//     cannot send, hence the duplicate; the last of these needs care, see notice_failed_send();
//   * it trusts what it reads, hence the look into the socket beforehand (session_socket.hpp);
//   * every queued request gets exactly one callback, in zookeeper_close at the latest;
//   * requests made without a connection stay in its queue until the next flush;
//   * it sends a request's length and the request by two calls, which would be two packets on the
//     wire and two rounds of the selector in the server, hence the cork;
//   * nothing may be resumed inside a callback: signals resume by posting;
//   * zookeeper_close blocks its thread for up to 3 s while it waits for the server, hence the
//     goodbye before it;
//   * it keeps a server found for read-only mode in one variable of the whole process, so that mode
//     is never requested; the only other global state in use is the random order of the servers,
//     and any order will do.
#include "drivers/zookeeper/handle.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace lockmark::zookeeper {
namespace {

constexpr duration goodbye_limit = std::chrono::seconds(1);

// Otherwise the library writes to stderr.
void drop_log_line(const char* /*line*/) {}

void add_bytes(int fd, traffic& sum) {
  const tcp_bytes moved = count_tcp_bytes(fd);
  sum.bytes_out += moved.out;
  sum.bytes_in += moved.in;
}

// The client library formats its log lines in process-wide buffers, without a lock. Level 0, which
// its header does not name, formats nothing.
void silence_library() {
  static const bool done = [] {
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

handle::handle(loop& l, const handle_settings& s)
    : loop_(l), hosts_(s.hosts), has_login_(!s.login.empty()), open_path_(s.open_path), poked_(l) {
  silence_library();
  const auto timeout_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(s.session_timeout).count();
  const auto on_session_event = [](zhandle_t*, int, int state, const char*, void* self) {
    static_cast<handle*>(self)->session_changed(state);
  };
  zk_ = zookeeper_init2(s.hosts.c_str(), on_session_event, static_cast<int>(timeout_ms), nullptr,
                        this, ZOO_NO_LOG_CLIENTENV, drop_log_line);
  if (zk_ == nullptr)
    throw no_server(
        fmt::format("zookeeper://{}: cannot be resolved: {}", s.hosts, std::strerror(errno)));
  // Otherwise every zookeeper_interest resolves the names again.
  zoo_set_servers_resolution_delay(zk_, -1);
  // Sent first on each connection.
  if (has_login_)
    zoo_add_auth(zk_, "digest", s.login.data(), static_cast<int>(s.login.size()), nullptr, nullptr);
  look_again_at_ = loop_.now();
}

handle::~handle() {
  free_session();
}

std::shared_ptr<handle> handle::open(loop& l, scope& tasks, const handle_settings& s) {
  std::shared_ptr<handle> opened(new handle(l, s));
  tasks.spawn(pump(opened));
  return opened;
}

bool handle::connected() const {
  return zk_ != nullptr && !closing_ && zoo_state(zk_) == ZOO_CONNECTED_STATE;
}

bool handle::over() const {
  return zk_ == nullptr || closing_ || is_unrecoverable(zk_) != 0;
}

bool handle::alive() const {
  return was_connected_ && !over() && loop_.now() < heard_at_ + session_timeout();
}

duration handle::session_timeout() const {
  return std::chrono::milliseconds(zk_ == nullptr ? 0 : zoo_recv_timeout(zk_));
}

task<bool> handle::changed_by(time_point deadline) {
  signal changed{loop_};
  waiting_for_change_.push_back(&changed);
  const bool woken = co_await changed.wait_until(deadline);
  std::erase(waiting_for_change_, &changed);
  co_return woken;
}

task<bool> handle::connected_by(time_point deadline) {
  // Not `if (!co_await ...) break`: g++ 12.2 then resumes at the wrong address.
  bool in_time = true;
  while (in_time && !connected() && !over()) in_time = co_await changed_by(deadline);
  co_return connected();
}

task<void> handle::pause(duration d) {
  if (!over()) co_await changed_by(loop_.now() + d);
}

void handle::wake_everybody() {
  for (signal* waiter : waiting_for_change_) waiter->set();
  if (!over()) return;
  for (auto& [key, watch] : watches_) watch->fired.set();
}

void handle::session_changed(int state) {
  if (state == ZOO_CONNECTED_STATE) {
    heard_at_ = loop_.now();
    if (std::exchange(was_connected_, true)) ++sent_.reconnects;
    local_address_ = address_of(duplicate_);
    cork(duplicate_);
    inbox_.forget();
    if (zoo_recv_timeout(zk_) <= 0) disbelieve("a session that ends at once");
    look_again_at_ = heard_at_;  // sends requests made in the meantime
  }
  if (state == ZOO_AUTH_FAILED_STATE) last_failure_ = "the server refuses the user";
  wake_everybody();
}

// The pump -------------------------------------------------------------------------------------

task<void> handle::pump(std::shared_ptr<handle> self) {
  while (!self->over()) {
    if (self->connected())
      co_await self->converse();
    else
      co_await self->connect();
  }
  co_await self->say_goodbye();
  self->free_session();
}

// One step towards a connection.
task<void> handle::connect() {
  look();
  if (connected() || over()) co_return;
  if (!watch_) {
    co_await poked_.wait_until(look_again_at_);
    co_return;
  }
  const unsigned ready = co_await watch_->wait(interest_, look_again_at_);
  if (ready == 0 || closing_) co_return;
  process(((ready & fd_watch::readable) != 0 ? ZOOKEEPER_READ : 0) |
          ((ready & fd_watch::writable) != 0 ? ZOOKEEPER_WRITE : 0));
}

// One iteration for an established session.
task<void> handle::converse() {
  const unsigned ready = co_await watch_->wait(interest_, look_again_at_);
  if (closing_) co_return;
  // ZOOKEEPER_WRITE also flushes what an earlier send left over; it costs nothing when nothing is
  // left.
  if (ready != 0) process(ZOOKEEPER_READ | ZOOKEEPER_WRITE);
  const bool was_sending = (interest_ & fd_watch::writable) != 0;
  if (connected() && (was_sending || loop_.now() >= look_again_at_)) look();
}

void handle::process(int events) {
  int rc = ZOK;
  bool read = false;
  do {
    read = (events & ZOOKEEPER_READ) != 0 && may_read();
    rc = zookeeper_process(zk_, read ? events : events & ~ZOOKEEPER_READ);
    // Usually exactly one reply was due, and another read would be a wasted system call.
  } while (rc == ZOK && read && !asked_.empty() && connected());
  if (rc != ZOK && rc != ZNOTHING) return lose_connection();
  if (connected() && read) heard_at_ = loop_.now();
}

// The handshake is left to the library, which reads a fixed number of bytes of it.
bool handle::may_read() {
  if (!connected()) return true;
  const inbox::sight seen = inbox_.look(duplicate_, next_awaited());
  if (seen == inbox::sight::wrong) disbelieve(inbox_.wrong());
  return seen == inbox::sight::whole || seen == inbox::sight::wrong;
}

// The library will see the connection end, and so will all waiters.
void handle::disbelieve(const std::string& what) {
  nonsense_ = fmt::format("zookeeper://{}: said what no ZooKeeper server says: {}", hosts_, what);
  cut(duplicate_);
}

// Lets the library do what is due (ping, time out, connect), and asks what to wait for.
void handle::look() {
  int fd = -1;
  int events = 0;
  timeval wait{};
  const int rc = zookeeper_interest(zk_, &fd, &events, &wait);
  look_again_at_ =
      loop_.now() + std::chrono::seconds(wait.tv_sec) + std::chrono::microseconds(wait.tv_usec);
  if (rc != ZOK) {
    next_must_fail_ = false;
    // A ping that it cannot send leaves the library connected: the end is still to be read.
    if (!connected()) lose_connection();
    return;
  }
  interest_ = ((events & ZOOKEEPER_READ) != 0 ? fd_watch::readable : 0U) |
              ((events & ZOOKEEPER_WRITE) != 0 ? fd_watch::writable : 0U);
  push(duplicate_);  // a ping
  if (fd == -1 || watch_) return;
  duplicate_ = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (duplicate_ != -1) watch_ = std::make_unique<fd_watch>(loop_, duplicate_);
  if (std::exchange(next_must_fail_, false)) cut(duplicate_);
}

// A request that cannot be sent makes the library close its socket and do no more. Unlike any other
// end of a connection, this one leaves its requests in the library, which would send on the next
// connection what had not been sent, and take the first reply there for one to an earlier request.
// What ends them all is an attempt to connect that fails; so one is made to.
void handle::notice_failed_send() {
  if (duplicate_ == -1 || zoo_state(zk_) != ZOO_NOTCONNECTED_STATE) return;
  lose_connection();
  next_must_fail_ = true;
}

void handle::lose_connection() {
  if (errno != 0) last_failure_ = std::strerror(errno);
  if (!watch_) return;
  watch_->interrupt();
  watch_.reset();
  add_bytes(duplicate_, sent_);
  ::close(std::exchange(duplicate_, -1));
}

void handle::close() {
  closing_ = true;
  wake_everybody();
  poked_.set();
  if (watch_) watch_->interrupt();
}

// The library's own close blocks while it waits for the server. So the request is sent here, and
// the end of the connection awaited; zookeeper_close then has nothing to wait for.
task<void> handle::say_goodbye() {
  if (!watch_ || zoo_state(zk_) != ZOO_CONNECTED_STATE) co_return;
  const auto deadline = loop_.now() + goodbye_limit;
  look();
  if (!watch_ || (interest_ & fd_watch::writable) != 0) co_return;  // half a request is unsent
  ++sent_.commands;
  bool open = send_close_request(duplicate_);
  push(duplicate_);
  while (open && loop_.now() < deadline) {
    co_await watch_->wait(fd_watch::readable, deadline);
    open = still_open(duplicate_);
  }
}

void handle::free_session() {
  if (zk_ == nullptr) return;
  if (duplicate_ != -1) ::shutdown(duplicate_, SHUT_RDWR);  // the library's sends go nowhere
  closing_ = true;
  zookeeper_close(zk_);  // calls back every open request
  lose_connection();
  wake_everybody();
  watches_.clear();
  zk_ = nullptr;
}

traffic handle::sent() const {
  traffic sum = sent_;
  if (duplicate_ != -1) add_bytes(duplicate_, sum);
  return sum;
}

}  // namespace lockmark::zookeeper
