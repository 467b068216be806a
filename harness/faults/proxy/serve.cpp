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

#include "harness/faults/proxy/switchboard.hpp"
#include "harness/time/thread.hpp"

namespace lockmark::faults {
namespace {

using nlohmann::json;

// Lines are short, and whoever reads them does so all the time.
void write_line(int out, const json& line) {
  const std::string text = line.dump() + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = write(out, text.data() + done, text.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;  // the parent is gone, which the input will tell
    done += static_cast<std::size_t>(size);
  }
}

link_mode mode_from(const std::string& name) {
  if (name == "pass") return link_mode::pass;
  if (name == "cut") return link_mode::cut;
  if (name == "stall") return link_mode::stall;
  if (name == "delay") return link_mode::delay;
  throw std::runtime_error(fmt::format("there is no mode '{}' of a link", name));
}

json obey(switchboard& board, const json& command) {
  const std::string what = command.at("do");
  if (what == "open") {
    const std::size_t link = board.open(command.at("host"), command.at("port"),
                                        command.value("listen", std::uint16_t{0}));
    return {{"link", link}, {"port", board.port(link)}};
  }
  for (const std::size_t link : command.at("links")) {
    if (link >= board.links()) throw std::runtime_error(fmt::format("there is no link {}", link));
    if (what == "set") {
      board.set(link, mode_from(command.at("mode")),
                duration{command.value("by_ns", std::int64_t{0})});
    } else if (what == "await") {
      board.await(link, command.at("word"), command.at("nth"), command.value("answer", ""));
    } else if (what == "go") {
      board.go(link);
    } else {
      throw std::runtime_error(fmt::format("there is no command '{}'", what));
    }
  }
  return json::object();
}

json answer_to(switchboard& board, const std::string& line) {
  json answer;
  json command;
  try {
    command = json::parse(line);
    answer = obey(board, command);
  } catch (const std::exception& error) {
    answer = {{"error", error.what()}};
  }
  if (command.is_object() && command.contains("id")) answer["id"] = command["id"];
  return answer;
}

}  // namespace

int serve_proxies(int in, int out) {
  // A terminal's Ctrl-C is for the parent, which ends this process when it is done with it.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  punctual_thread();  // a delay of 100 us is not to become one of 150
  switchboard board([out](std::size_t link) { write_line(out, {{"hit", link}}); });
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
