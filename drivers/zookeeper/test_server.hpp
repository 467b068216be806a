// The one server that this program's tests share; main() starts it.
#pragma once

#include <cstdint>
#include <string>

namespace lockmark::zookeeper {

std::string& server_target();
std::uint16_t server_port();

}  // namespace lockmark::zookeeper
