#include "drivers/etcd/fake_server.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "drivers/etcd/grpc_frames.hpp"
#include "etcd.pb.h"

namespace lockmark::etcd {

fake_server::fake_server(manner m)
    : manner_(std::move(m)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_.get(), generic, size) != 0 || listen(listener_.get(), 16) != 0 ||
      getsockname(listener_.get(), generic, &size) != 0) {
    throw std::runtime_error("no port for a fake server");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] {
    while (ready(listener_.get(), POLLIN)) {
      const unique_fd client{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      ++clients_;
      if (manner_.greeting.empty()) {
        serve(client.get());
      } else {
        greet(client.get());
      }
    }
  });
}

fake_server::~fake_server() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

// False when the server has to stop.
bool fake_server::ready(int fd, short events, int limit_ms) const {
  pollfd both[] = {{fd, events, 0}, {stop_.get(), POLLIN, 0}};
  while (poll(both, 2, limit_ms) < 0) {
  }
  return both[1].revents == 0;
}

bool fake_server::send(int fd, std::string_view bytes) const {
  while (!bytes.empty()) {
    if (!ready(fd, POLLOUT)) return false;
    const std::string_view now = bytes.substr(0, manner_.drip_ms > 0 ? 1 : bytes.size());
    const ssize_t n = ::send(fd, now.data(), now.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) return false;
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    if (manner_.drip_ms > 0 && !ready(-1, 0, manner_.drip_ms)) return false;
  }
  return true;
}

void fake_server::serve(int fd) const {
  fake_peer peer{manner_.answer};
  bool there = send(fd, peer.output());
  while (there && ready(fd, POLLIN)) {
    char some[4096];
    const ssize_t n = recv(fd, some, sizeof some, 0);
    if (n <= 0 || !peer.receive({some, static_cast<std::size_t>(n)})) return;
    there = send(fd, peer.output());
  }
}

void fake_server::greet(int fd) const {
  bool there = send(fd, manner_.greeting);
  while (there && manner_.endless) there = send(fd, manner_.greeting);
  char some[4096];
  while (there && ready(fd, POLLIN) && recv(fd, some, sizeof some, 0) > 0) {
  }
}

namespace {

constexpr std::int64_t some_lease = 0x7;

std::string txn_reply() {
  wire::TxnResponse txn;
  txn.mutable_header()->set_revision(5);
  txn.set_succeeded(true);
  txn.add_responses()->mutable_response_put();
  txn.add_responses()->mutable_response_range();
  return txn.SerializeAsString();
}

std::string lease_reply() {
  wire::LeaseGrantResponse lease;
  lease.set_id(some_lease);
  lease.set_ttl_s(10);
  return lease.SerializeAsString();
}

std::string status_reply() {
  wire::StatusResponse status;
  status.set_version("3.4.23");
  status.mutable_header()->set_member_id(1);
  status.set_leader(1);
  return status.SerializeAsString();
}

std::string range_reply() {
  wire::RangeResponse range;
  range.mutable_header()->set_revision(5);
  return range.SerializeAsString();
}

std::string delete_reply() {
  wire::DeleteRangeResponse deleted;
  deleted.set_deleted(1);
  return deleted.SerializeAsString();
}

std::string kept_reply() {
  wire::LeaseKeepAliveResponse kept;
  kept.set_id(some_lease);
  kept.set_ttl_s(10);
  return kept.SerializeAsString();
}

}  // namespace

void answer_honestly(fake_peer& p, const fake_peer::call& c) {
  const std::string name = c.name();
  if (name == "Txn") return p.answer(c.id, txn_reply());
  if (name == "Range") return p.answer(c.id, range_reply());
  if (name == "DeleteRange") return p.answer(c.id, delete_reply());
  if (name == "LeaseGrant") return p.answer(c.id, lease_reply());
  if (name == "Status") return p.answer(c.id, status_reply());
  if (name == "LeaseKeepAlive") return p.say(c.id, framed(kept_reply()));
  if (name == "Watch") return;
  p.answer(c.id, "");
}

}  // namespace lockmark::etcd
