// The socket beneath the C client: what the library does not offer and the kernel does.
#pragma once

#include <string>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {

// This end's address, without the port; empty when there is none.
std::string address_of(int fd);

// Small sends are held back until push(), or for 200 ms.
void cork(int fd);
void push(int fd);  // -1: does nothing

// Adds the connection's bytes, which the library hides.
void add_bytes(int fd, traffic& sum);

// Asks the server to end the session. False: the request was not sent whole.
bool send_close_request(int fd);

// Drops what was received. False: the other end has closed.
bool still_open(int fd);

}  // namespace lockmark::zookeeper
