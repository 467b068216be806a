#include "drivers/zookeeper/four_letter.hpp"

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/write.hpp>
#include <charconv>

#include "harness/async/scope.hpp"
#include "harness/async/signal.hpp"

namespace lockmark::zookeeper {
namespace {

using tcp_socket = asio::basic_stream_socket<asio::ip::tcp, executor>;

constexpr std::size_t longest_answer = 1 << 20;

task<void> talk(loop& l, tcp_socket& socket, std::string host, std::uint16_t port, std::string word,
                word_answer& answer, signal& ended) {
  std::error_code error;
  asio::ip::tcp::resolver names{l.context()};
  const std::string plain = host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
  const auto found = names.resolve(plain, std::to_string(port), error);
  if (!error) {
    co_await socket.async_connect(found.begin()->endpoint(), asio::redirect_error(use_task, error));
    if (!error)
      co_await asio::async_write(socket, asio::buffer(word), asio::redirect_error(use_task, error));
    std::string part(4096, '\0');
    while (!error && answer.text.size() < longest_answer) {
      const auto room = asio::buffer(part);
      const std::size_t size =
          co_await socket.async_read_some(room, asio::redirect_error(use_task, error));
      answer.text.append(part.data(), size);
    }
  }
  if (answer.text.empty())
    answer.failure = !error || error == asio::error::eof ? "closed the connection without a word"
                                                         : error.message();
  ended.set();
}

}  // namespace

task<word_answer> ask_word(loop& l, std::string host, std::uint16_t port, std::string word,
                           time_point deadline) {
  word_answer answer;
  tcp_socket socket{l.context()};
  signal ended{l};
  scope only{l};
  only.spawn(talk(l, socket, host, port, word, answer, ended));
  const bool in_time = co_await ended.wait_until(deadline);
  if (!in_time) {
    std::error_code ignored;
    socket.close(ignored);
  }
  co_await only.join();
  if (!in_time) answer = {"", "did not answer in time"};
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
