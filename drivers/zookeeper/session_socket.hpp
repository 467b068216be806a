// The socket below the C client: functions that the library does not offer but the kernel does.
#pragma once

#include <string>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {

// The local address, without the port; empty if there is none.
std::string address_of(int fd);

// Small sends are held back until push(), or for 200 ms.
void cork(int fd);
void push(int fd);  // -1: does nothing

// Adds the connection's bytes, which the library hides.
void add_bytes(int fd, traffic& sum);

// Sends the request to end the session. False: it was not sent completely.
bool send_close_request(int fd);

// Discards received data. False: the peer has closed.
bool still_open(int fd);

}  // namespace lockmark::zookeeper
