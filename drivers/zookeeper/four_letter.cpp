#include "drivers/zookeeper/four_letter.hpp"

#include <algorithm>
#include <charconv>

#include "harness/async/stream.hpp"

namespace lockmark::zookeeper {
namespace {

constexpr std::size_t longest_answer = 1 << 20;

// An IPv6 address stands in brackets in a URL, and without them elsewhere.
std::string without_brackets(std::string host) {
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

}  // namespace

task<word_answer> ask_word(loop& l, std::string host, std::uint16_t port, std::string word,
                           time_point deadline) {
  word_answer answer;
  stream server{l};
  std::error_code error = co_await server.connect(without_brackets(host), port, deadline);
  if (!error) error = co_await server.write_all(word, deadline);
  std::string part(4096, '\0');
  while (!error && answer.text.size() < longest_answer) {
    const received some = co_await server.read_some(part, deadline);
    answer.text.append(part, 0, some.bytes);
    error = some.error;
  }
  if (error == std::errc::timed_out)
    answer = {"", "the server does not answer"};
  else if (answer.text.empty())
    answer.failure =
        error == asio::error::eof ? "the server closed the connection" : error.message();
  co_return answer;
}

std::map<std::string, std::string, std::less<>> fields_in(std::string_view text,
                                                          std::string_view separator) {
  std::map<std::string, std::string, std::less<>> fields;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto split = line.find(separator);
    if (split == std::string_view::npos) continue;
    fields.emplace(line.substr(0, split), line.substr(split + separator.size()));
  }
  return fields;
}

std::map<std::string, std::uint64_t> numbers_in(std::string_view mntr_text) {
  std::map<std::string, std::uint64_t> numbers;
  for (const auto& [name, value] : fields_in(mntr_text, "\t")) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc{} && end == value.data() + value.size()) numbers.emplace(name, number);
  }
  return numbers;
}

}  // namespace lockmark::zookeeper
