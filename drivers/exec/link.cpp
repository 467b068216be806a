#include "drivers/exec/link.hpp"

#include <fmt/format.h>

#include <array>
#include <csignal>

namespace lockmark::exec {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t errors_kept = 4096;
constexpr std::size_t errors_shown = 600;
constexpr duration goodbye = 3s;      // for a child to end by itself ...
constexpr duration termination = 1s;  // ... and by SIGTERM
constexpr duration burial = 500ms;    // for the system, after SIGKILL

// One line of it, as long as a sentence may be.
std::string last_words(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const bool cut = text.size() > errors_shown;
  if (cut) text.remove_prefix(text.size() - errors_shown);
  std::string one_line{cut ? "... " : ""};
  for (const char c : text) {
    one_line += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return one_line;
}

}  // namespace

link::link(loop& l, const std::vector<std::string>& argv, std::string what,
           std::vector<std::string> secrets)
    : loop_(l),
      what_(std::move(what)),
      secrets_(std::move(secrets)),
      child_(argv),
      in_(l, child_.in()),
      out_(l, child_.out()),
      err_(l, child_.err()),
      gone_(l, child_.ended()),
      tasks_(l),
      over_for_reader_(l),
      over_for_end_(l),
      hello_(l) {
  tasks_.spawn(read_answers());
  tasks_.spawn(read_errors());
  tasks_.spawn(watch_end());
}

task<answer> link::greet(std::string hello, time_point limit) {
  tell(std::move(hello));
  co_await hello_.arrived.wait_until(limit);
  if (!hello_.said) {
    throw no_server(dead_ ? sentence() : fmt::format("{}: not ready in time{}", what_, sentence()));
  }
  if (hello_.said->what == answer::kind::failed) {
    throw no_server(fmt::format("{}: {}", what_, without_secrets(hello_.said->text)));
  }
  co_return *hello_.said;
}

task<std::optional<answer>> link::ask(std::uint64_t id, std::string line, time_point limit) {
  if (dead_) throw no_server(sentence());
  pending mine{loop_};
  waiting_.emplace(id, &mine);
  tell(std::move(line));
  co_await mine.arrived.wait_until(limit);
  waiting_.erase(id);
  co_return std::move(mine.said);
}

void link::tell(std::string line) {
  if (dead_) return;
  if (unsent_.empty()) {
    const std::size_t sent = child_.write_now(line.data(), line.size());
    if (sent == line.size()) return;
    line.erase(0, sent);
  }
  unsent_ += line;
  if (writing_) return;
  writing_ = true;
  tasks_.spawn(write_rest());
}

task<void> link::write_rest() {
  while (!dead_ && !ending_ && !unsent_.empty()) {
    const unsigned ready = co_await in_.wait(fd_watch::writable, loop_.now() + 1s);
    if (ready == 0) continue;
    const std::size_t sent = child_.write_now(unsent_.data(), unsent_.size());
    unsent_.erase(0, sent);
  }
  writing_ = false;
}

task<void> link::read_answers() {
  const auto room = std::make_unique<std::array<char, 16 * 1024>>();
  while (!dead_) {
    const long got = child::read_now(child_.out(), room->data(), room->size());
    if (got == 0) break;
    if (got < 0) {
      if (child_.status() || given_up_) break;  // others may hold it open for as long as they like
      co_await out_.wait(fd_watch::readable, time_point::max());
      continue;
    }
    unread_.append(room->data(), static_cast<std::size_t>(got));
    take_lines();
  }
  co_await bury();
}

void link::take_lines() {
  std::size_t from = 0;
  for (auto end = unread_.find('\n'); end != unread_.npos; end = unread_.find('\n', from)) {
    take_line(std::string_view{unread_}.substr(from, end - from));
    from = end + 1;
  }
  unread_.erase(0, from);
  if (unread_.size() > longest_line) died("wrote a line that is too long");
}

void link::take_line(std::string_view line) {
  if (line.empty() || dead_) return;
  auto said = read_line(line);
  if (!said) return died("wrote a line that is not of the protocol");
  switch (said->what) {
    case answer::kind::ready:
    case answer::kind::failed:
      hello_.said = std::move(*said);
      hello_.arrived.set();
      break;
    case answer::kind::alive: alive_ = said->alive; break;
    case answer::kind::outcome: deliver(std::move(*said)); break;
  }
}

void link::deliver(answer said) {
  const auto who = waiting_.find(said.id);
  if (who == waiting_.end() || who->second->said) return on_late(said);
  who->second->said = std::move(said);
  who->second->arrived.set();
}

// The end of the child's output is the end of the child, which then gets a moment to end in order,
// so that its status and its last words are known.
task<void> link::bury() {
  const bool by_itself = co_await ended_by(over_for_reader_, loop_.now() + burial);
  if (!by_itself && !ending_) {
    child_.signal_all(SIGKILL);
    co_await ended_by(over_for_reader_, loop_.now() + burial);
  }
  const auto status = child_.status();
  died(status ? describe_status(*status) : "closed its output");
}

task<void> link::read_errors() {
  const auto room = std::make_unique<std::array<char, 4096>>();
  while (true) {
    const long got = child::read_now(child_.err(), room->data(), room->size());
    if (got == 0) co_return;
    if (got > 0) {
      errors_.append(room->data(), static_cast<std::size_t>(got));
      if (errors_.size() > 2 * errors_kept) errors_.erase(0, errors_.size() - errors_kept);
      continue;
    }
    if (child_.status() || given_up_) co_return;
    co_await err_.wait(fd_watch::readable, time_point::max());
  }
}

task<void> link::watch_end() {
  while (!child_.status() && !given_up_) {
    co_await gone_.wait(fd_watch::readable, time_point::max());
  }
  over_for_reader_.set();
  over_for_end_.set();
  out_.interrupt();
  err_.interrupt();
}

task<bool> link::ended_by(signal& over, time_point limit) {
  while (!child_.status() && loop_.now() < limit) co_await over.wait_until(limit);
  co_return child_.status().has_value();
}

void link::died(std::string how) {
  if (dead_) return;
  dead_ = true;
  how_ = std::move(how);
  if (!child_.status()) child_.signal_all(SIGKILL);
  hello_.arrived.set();
  for (const auto& [id, call] : waiting_) call->arrived.set();
}

std::string link::sentence() const {
  const std::string words = without_secrets(last_words(errors_));
  const std::string wrote = words.empty() ? "" : fmt::format("; it wrote: {}", words);
  return dead_ ? fmt::format("{}: {}{}", what_, how_, wrote) : wrote;
}

std::string link::without_secrets(std::string text) const {
  for (const std::string& secret : secrets_) {
    if (secret.empty()) continue;
    for (auto at = text.find(secret); at != text.npos; at = text.find(secret, at + 3)) {
      text.replace(at, secret.size(), "***");
    }
  }
  return text;
}

task<void> link::end() {
  tell(close_line());
  ending_ = true;
  child_.close_in();
  bool over = co_await ended_by(over_for_end_, loop_.now() + goodbye);
  if (!over) {
    child_.signal_all(SIGTERM);
    over = co_await ended_by(over_for_end_, loop_.now() + termination);
  }
  if (!over) {
    child_.signal_all(SIGKILL);
    co_await ended_by(over_for_end_, loop_.now() + burial);
  }
  given_up_ = true;
  dead_ = true;
  gone_.interrupt();
  out_.interrupt();
  err_.interrupt();
  co_await tasks_.join();
}

}  // namespace lockmark::exec
