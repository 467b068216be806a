// Commands from the parent to the proxy process: lines of JSON to values. Knows no socket.
//
//   {"id": 1, "do": "open", "host": "db", "port": 6379, "listen": 0, "by_ns": 250000}
//   {"id": 2, "do": "set", "links": [0], "mode": "delay", "by_ns": 1000000}
//   {"id": 3, "do": "await", "links": [0, 1], "word": "SETNX", "nth": 1, "answer": ":1"}
//   {"id": 4, "do": "go", "links": [0]}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/faults/proxy/tcp_proxy.hpp"

namespace lockmark::faults {

struct command {
  enum class kind : std::uint8_t { open, set, await, go };
  kind what = kind::go;
  std::optional<std::uint64_t> id{};  // returned in the reply

  std::string host{};  // open
  std::uint16_t port = 0;
  std::uint16_t listen = 0;  // 0: any free port

  std::vector<std::size_t> links{};  // all kinds except open

  link_mode mode = link_mode::pass;  // set
  duration by{};                     // set, and open: always
  duration jitter{};                 // open

  std::string word{};  // await; not empty
  std::uint64_t nth = 1;
  std::string answer{};

  std::string wrong{};  // not empty: why this is no command; then only id may be set
};

command read_command(std::string_view line);

}  // namespace lockmark::faults
