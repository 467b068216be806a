#include "drivers/zookeeper/inbox.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace lockmark::zookeeper {
namespace {

// True if no more data will arrive.
bool has_ended(int fd) {
  pollfd p{fd, POLLRDHUP, 0};
  return poll(&p, 1, 0) > 0;
}

}  // namespace

void inbox::wait_for(int fd, int bytes) {
  if (low_water_ == bytes) return;
  setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
  low_water_ = bytes;
}

inbox::sight inbox::look(int fd, std::optional<body> awaited) {
  std::size_t wanted = 4;
  while (true) {
    const ssize_t n = recv(fd, bytes_.data(), bytes_.size(), MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return sight::nothing;
    if (n <= 0) return sight::whole;
    const auto seen = std::string_view{bytes_}.substr(0, static_cast<std::size_t>(n));
    if (const auto length = frame_length(seen)) {
      if (*length < 0 || *length > static_cast<std::int64_t>(frame_limit)) {
        wrong_ = fmt::format("a message of {} bytes", *length);
        return sight::wrong;
      }
      wanted = std::max(wanted, static_cast<std::size_t>(*length));
    }
    if (seen.size() >= wanted) {
      wait_for(fd, 1);
      wrong_ = wrong_in(seen.substr(0, wanted), awaited);
      return wrong_.empty() ? sight::whole : sight::wrong;
    }
    if (bytes_.size() >= wanted) break;
    bytes_.resize(wanted);
  }
  wait_for(fd, static_cast<int>(wanted));
  return has_ended(fd) ? sight::whole : sight::part;
}

void cut(int fd) {
  ::shutdown(fd, SHUT_RDWR);
  std::array<char, 65536> dropped;
  while (recv(fd, dropped.data(), dropped.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace lockmark::zookeeper
