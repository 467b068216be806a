#include "harness/faults/proxy/half_connection.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace lockmark::faults {

std::string_view half_connection::read(std::span<char> room) {
  const ssize_t size = recv(from_, room.data(), room.size(), 0);
  if (size > 0) return {room.data(), static_cast<std::size_t>(size)};
  if (size == 0) ended_ = true;
  if (size < 0 && errno != EAGAIN && errno != EINTR) broken_ = true;
  return {};
}

void half_connection::pass_on(std::string_view bytes) {
  const std::size_t written = kept_.empty() ? write(bytes) : 0;
  if (written < bytes.size()) keep(bytes.substr(written), time_point::min());
}

void half_connection::keep(std::string_view bytes, time_point due) {
  kept_.push_back({due, std::string{bytes}});
  kept_bytes_ += bytes.size();
}

void half_connection::keep_end(time_point due) {
  kept_.push_back({due, {}});
}

void half_connection::hurry() {
  for (piece& p : kept_) p.due = time_point::min();
}

void half_connection::write_due(time_point now) {
  blocked_ = false;
  while (!kept_.empty() && kept_.front().due <= now && !broken_) {
    piece& first = kept_.front();
    if (first.bytes.empty()) {
      shutdown(to_, SHUT_WR);
      passed_end_ = true;
    }
    const std::size_t written = write(first.bytes);
    kept_bytes_ -= written;
    if (written < first.bytes.size()) {
      first.bytes.erase(0, written);
      return;
    }
    kept_.pop_front();
  }
}

std::size_t half_connection::write(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const ssize_t size = send(to_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (size >= 0) {
    blocked_ = static_cast<std::size_t>(size) < bytes.size();
    return static_cast<std::size_t>(size);
  }
  if (errno == EAGAIN || errno == EINTR) {
    blocked_ = true;
  } else {
    broken_ = true;
  }
  return 0;
}

}  // namespace lockmark::faults
