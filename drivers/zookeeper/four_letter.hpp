// ZooKeeper's four-letter words: a server's report on itself, over a plain TCP connection.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/async/loop.hpp"
#include "harness/config/target.hpp"

namespace lockmark::zookeeper {

// The server's text, or the reason why there is none.
struct word_answer {
  std::string text;
  std::string failure;   // "Connection refused"; empty when the server answered
  bool hung_up = false;  // that failure: it accepted, and closed the connection without a word
};

// Sends `word` to all hosts concurrently, and reads from each until it closes the connection or the
// deadline passes. The answers are in the order of the hosts.
task<std::vector<word_answer>> ask_all(loop& l, std::vector<config::host_port> hosts,
                                       std::string word, time_point deadline);

// Parses "name<separator>value" lines. A server that does not allow the word answers with a
// sentence, which has no such lines; `numbers_in` skips values that are not numbers.
std::map<std::string, std::string, std::less<>> fields_in(std::string_view text,
                                                          std::string_view separator);
std::map<std::string, std::uint64_t> numbers_in(std::string_view text, std::string_view separator);

}  // namespace lockmark::zookeeper
