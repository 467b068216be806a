#include "harness/faults/proxy/serve.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "harness/faults/proxy/command.hpp"
#include "harness/faults/proxy/tcp_proxy.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::faults {
namespace {

using nlohmann::json;

// Lines are short, and the reader always reads.
void write_line(int out, const json& line) {
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = write(out, text.data() + done, text.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;  // the parent is gone; the input will report it
    done += static_cast<std::size_t>(size);
  }
}

json obey(tcp_proxy& board, const command& c) {
  if (!c.wrong.empty()) throw std::runtime_error(c.wrong);
  if (c.what == command::kind::open) {
    const std::size_t link = board.open(c.host, c.port, c.listen, {c.by, c.jitter});
    return {{"link", link}, {"port", board.port(link)}};
  }
  for (const std::size_t link : c.links) {
    if (link >= board.links()) throw std::runtime_error(fmt::format("there is no link {}", link));
    switch (c.what) {
      case command::kind::set: board.set(link, c.mode, c.by); break;
      case command::kind::await: board.await(link, c.word, c.nth, c.answer); break;
      case command::kind::go: board.go(link); break;
      case command::kind::open: break;
    }
  }
  return json::object();
}

json answer_to(tcp_proxy& board, const std::string& line) {
  const command told = read_command(line);
  json answer;
  try {
    answer = obey(board, told);
  } catch (const std::exception& error) {
    answer = {{"error", error.what()}};
  }
  if (told.id) answer["id"] = *told.id;
  return answer;
}

}  // namespace

int serve_proxies(int in, int out) {
  // A terminal's Ctrl-C is for the parent, which ends this process when it is done with it.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  punctual_thread();  // so that a delay of 100 us does not become 150
  tcp_proxy board([out](std::size_t link) { write_line(out, {{"hit", link}}); });
  std::string unread;
  std::array<char, 4096> room;
  for (;;) {
    board.carry_until_readable(in);
    const ssize_t size = read(in, room.data(), room.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return 0;
    unread.append(room.data(), static_cast<std::size_t>(size));
    for (auto end = unread.find('\n'); end != unread.npos; end = unread.find('\n')) {
      const std::string line = unread.substr(0, end);
      unread.erase(0, end + 1);
      write_line(out, answer_to(board, line));
    }
  }
}

}  // namespace lockmark::faults
