#include "drivers/zookeeper/four_letter.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "harness/async/scope.hpp"
#include "harness/async/stream.hpp"

namespace lockmark::zookeeper {
namespace {

constexpr std::size_t longest_answer = 1 << 20;

task<void> ask_into(loop& l, config::host_port at, std::string word, time_point deadline,
                    word_answer& answer) {
  stream server{l};
  std::error_code error = co_await server.connect(at.host, at.port, deadline);
  const bool accepted = !error;
  if (!error) error = co_await server.write_all(word, deadline);
  std::string part(4096, '\0');
  while (!error && answer.text.size() < longest_answer) {
    const received some = co_await server.read_some(part, deadline);
    answer.text.append(part, 0, some.bytes);
    error = some.error;
  }
  if (error == std::errc::timed_out) {
    answer = {"", "the server does not answer"};
  } else if (answer.text.empty()) {
    answer.failure =
        error == asio::error::eof ? "the server closed the connection" : error.message();
    answer.hung_up = accepted;
  }
}

}  // namespace

task<std::vector<word_answer>> ask_all(loop& l, std::vector<config::host_port> hosts,
                                       std::string word, time_point deadline) {
  std::vector<word_answer> answers(hosts.size());
  scope questions{l};
  for (std::size_t i = 0; i < hosts.size(); ++i)
    questions.spawn(ask_into(l, hosts[i], word, deadline, answers[i]));
  co_await questions.join();
  co_return answers;
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

std::map<std::string, std::uint64_t> numbers_in(std::string_view text, std::string_view separator) {
  std::map<std::string, std::uint64_t> numbers;
  for (const auto& [name, value] : fields_in(text, separator)) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc{} && end == value.data() + value.size()) numbers.emplace(name, number);
  }
  return numbers;
}

}  // namespace lockmark::zookeeper
