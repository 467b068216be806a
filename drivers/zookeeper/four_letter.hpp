// ZooKeeper's four-letter words: what a server says of itself, over a plain TCP connection.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/async/loop.hpp"
#include "harness/config/target.hpp"

namespace lockmark::zookeeper {

// What came back: the server's text, or why there is none.
struct word_answer {
  std::string text;
  std::string failure;  // "Connection refused"; empty when the server answered
};

// Sends `word` and reads until the server closes the connection, or the deadline comes.
task<word_answer> ask_word(loop& l, std::string host, std::uint16_t port, std::string word,
                           time_point deadline);

// The same to all, side by side; answers stand as the hosts do.
task<std::vector<word_answer>> ask_all(loop& l, std::vector<config::host_port> hosts,
                                       std::string word, time_point deadline);

// "name<separator>value" lines. A server that does not allow the word answers in a sentence that
// has no such lines; values that are no numbers are left out of `numbers_in`.
std::map<std::string, std::string, std::less<>> fields_in(std::string_view text,
                                                          std::string_view separator);
std::map<std::string, std::uint64_t> numbers_in(std::string_view text, std::string_view separator);

}  // namespace lockmark::zookeeper
