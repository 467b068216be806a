// Socket helpers for the proxies.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace lockmark::faults {

struct address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

// Throws std::runtime_error with a sentence.
address resolve(const std::string& host, std::uint16_t port);

void set_option(int socket, int level, int name, int value);

// Makes close() send a reset, even with unread data on the other side.
void abort_at_close(int socket);

// True if a socket could not be made because there are too many.
bool is_shortage(int error);

}  // namespace lockmark::faults
