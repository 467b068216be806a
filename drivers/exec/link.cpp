#include "drivers/exec/link.hpp"

#include <fmt/format.h>

#include <array>
#include <csignal>

#include "harness/base/process.hpp"
#include "harness/base/redact.hpp"

namespace lockmark::exec {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t errors_kept = 4096;
constexpr std::size_t errors_shown = 600;
constexpr std::size_t most_unanswered = 10'000;  // requests that nobody awaits
constexpr int most_without_time = 20;            // calls; a clock may tick in microseconds
constexpr int reads_per_turn = 8;                // an endless writer must not stall the loop
constexpr duration goodbye = 3s;                 // for a child to end by itself ...
constexpr duration termination = 1s;             // ... and by SIGTERM
constexpr duration burial = 500ms;               // for the system, after SIGKILL

// The last part of the text on one line, as long as an error sentence may be.
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
      over_for_writer_(l),
      over_for_end_(l),
      hello_(l, l.now(), "hello") {
  tasks_.spawn(read_answers());
  tasks_.spawn(read_errors());
  tasks_.spawn(watch_end());
}

task<answer> link::greet(std::string hello, time_point limit) {
  const duration within = limit - loop_.now();
  last_request_ = hello_.request;
  write(std::move(hello));
  co_await hello_.arrived.wait_until(limit);
  if (!hello_.said && !dead_) {
    const double seconds = std::chrono::duration<double>(within).count();
    const std::string line = quoted_line(without_secrets(unread_));
    const std::string begun = line.empty() ? "" : fmt::format("; it began a line: {}", line);
    died(fmt::format("did not answer hello within {:.3g} s{}", seconds, begun));
  }
  // A child that has failed may have ended already; what it said is why.
  if (hello_.said && hello_.said->what == answer::kind::failed) {
    throw no_server(fmt::format("{}: {}", what_, last_words(without_secrets(hello_.said->text))));
  }
  if (dead_) throw no_server(sentence());
  co_return *hello_.said;
}

task<std::optional<answer>> link::ask(std::uint64_t id, std::string line, time_point limit) {
  if (dead_) throw no_server(sentence());
  pending mine{loop_, loop_.now(), line};
  waiting_.emplace(id, &mine);
  remember(id, line);
  write(std::move(line));
  co_await mine.arrived.wait_until(limit);
  waiting_.erase(id);
  if (!mine.said) give_up(id, mine.asked);
  co_return std::move(mine.said);
}

void link::tell(std::uint64_t id, std::string line) {
  give_up(id, loop_.now());
  remember(id, line);
  write(std::move(line));
}

void link::remember(std::uint64_t id, const std::string& line) {
  last_id_ = std::max(last_id_, id);
  last_request_.assign(line, 0, line.find('\n'));
}

void link::give_up(std::uint64_t id, time_point asked) {
  unanswered_.emplace(id, asked);
  if (unanswered_.size() <= most_unanswered) return;
  forgotten_ = unanswered_.begin()->first;
  unanswered_.erase(unanswered_.begin());
}

void link::write(std::string line) {
  if (dead_) return;
  if (writing_) {
    if (unsent_.size() > longest_line) {
      return died(fmt::format("does not read its requests: {} bytes of them wait, the last is {}",
                              unsent_.size(), quoted_line(last_request_)));
    }
    unsent_ += line;
    return;
  }
  const long sent = child_.write_now(line.data(), line.size());
  if (sent == static_cast<long>(line.size())) return;
  unsent_.assign(line, static_cast<std::size_t>(std::max(sent, 0L)));
  writing_ = true;
  tasks_.spawn(write_rest());
}

task<void> link::write_rest() {
  while (!dead_ && !ending_ && !unsent_.empty()) {
    const long sent = child_.write_now(unsent_.data(), unsent_.size());
    if (sent < 0) {
      co_await bury("closed its standard input", over_for_writer_);
      break;
    }
    unsent_.erase(0, static_cast<std::size_t>(sent));
    if (!unsent_.empty()) co_await in_.wait(fd_watch::writable, loop_.now() + 1s);
  }
  writing_ = false;
}

task<void> link::read_answers() {
  const auto room = std::make_unique<std::array<char, 16 * 1024>>();
  for (int reads = 1; !dead_; ++reads) {
    if (reads % reads_per_turn == 0) co_await loop_.yield();
    const bool is_over = child_.status() || given_up_;  // asked before: then nothing follows
    const long got = child::read_now(child_.out(), room->data(), room->size());
    if (got == 0) break;
    if (got < 0) {
      if (is_over) break;  // others may hold it open for ever
      co_await out_.wait(fd_watch::readable, time_point::max());
      continue;
    }
    unread_.append(room->data(), static_cast<std::size_t>(got));
    take_lines();
  }
  co_await bury("closed its standard output", over_for_reader_);
}

void link::take_lines() {
  std::size_t from = 0;
  for (auto end = unread_.find('\n'); end != unread_.npos; end = unread_.find('\n', from)) {
    take_line(std::string_view{unread_}.substr(from, end - from));
    from = end + 1;
  }
  unread_.erase(0, from);
  if (unread_.size() <= longest_line) return;
  broke("wrote a line that is too long, of more than 1 MiB", unread_, last_request_);
  unread_ = {};
}

void link::take_line(std::string_view line) {
  if (line.empty() || dead_) return;
  auto said = read_line(line);
  if (!said) {
    return broke(fmt::format("wrote a line that is not of the protocol: {}", said.error().sentence),
                 line, last_request_);
  }
  switch (said->what) {
    case answer::kind::ready:
    case answer::kind::failed: return take_ready(*said, line);
    case answer::kind::alive: alive_ = said->alive; break;
    case answer::kind::outcome: return deliver(*said, line);
  }
}

// The client's first answer. Clients that fail later report it in the same way.
void link::take_ready(answer said, std::string_view line) {
  if (!said.is_ready) return broke("is not ready", line, last_request_);
  if (greeted_) {
    return broke(said.what == answer::kind::failed ? "failed" : "said twice that it is ready", line,
                 last_request_);
  }
  greeted_ = true;
  hello_.said = std::move(said);
  hello_.arrived.set();
}

void link::deliver(answer said, std::string_view line) {
  const auto who = waiting_.find(said.id);
  const bool awaited = who != waiting_.end() && !who->second->said;
  const auto late = unanswered_.find(said.id);
  if (!awaited && late == unanswered_.end()) {
    if (said.id <= forgotten_) return;
    return broke(said.id > last_id_ ? "answered a request that it was never sent"
                                    : "answered a request twice",
                 line, last_request_);
  }
  const std::string_view request = awaited ? std::string_view{who->second->request} : "a late one";
  if (said.at) {
    const time_point asked = awaited ? who->second->asked : late->second;
    const std::string wrong = wrong_with(*said.at, asked, loop_.now());
    if (!wrong.empty()) {
      return broke(fmt::format("wrote an answer that cannot be: {}", wrong), line, request);
    }
    const bool no_time = said.ending->done() && said.at->began == said.at->ended;
    without_time_ = no_time ? without_time_ + 1 : 0;
    if (without_time_ >= most_without_time) {
      return broke(
          fmt::format("says of {} calls in a row that they took no time; expected in "
                      "\"began\" and \"ended\" the clock before and after the library's call",
                      without_time_),
          line, request);
    }
  }
  if (!awaited) {
    unanswered_.erase(late);
    return on_late(said);
  }
  who->second->said = std::move(said);
  who->second->arrived.set();
}

// The end of a stream means the end of the child, which gets a moment to exit in order, so that its
// status and last output are known. If it keeps running, `deed` describes the failure instead.
task<void> link::bury(std::string deed, signal& over) {
  const bool by_itself = co_await ended_by(over, loop_.now() + burial);
  if (ending_) co_return;
  // Its last words may still be unread: a pipe holds 64 KiB of them.
  for (int reads = 0; by_itself && reads < 16 && take_errors() > 0;) ++reads;
  const std::string how = by_itself ? describe_status(*child_.status()) : deed;
  died(fmt::format("{} after the request {}", how, quoted_line(last_request_)));
}

long link::take_errors() {
  std::array<char, 4096> room;
  const long got = child::read_now(child_.err(), room.data(), room.size());
  if (got <= 0) return got;
  errors_.append(room.data(), static_cast<std::size_t>(got));
  if (errors_.size() > 2 * errors_kept) errors_.erase(0, errors_.size() - errors_kept);
  return got;
}

task<void> link::read_errors() {
  for (int reads = 1;; ++reads) {
    if (reads % reads_per_turn == 0) co_await loop_.yield();
    const bool is_over = child_.status() || given_up_;
    const long got = take_errors();
    if (got == 0) co_return;
    if (got > 0) continue;
    if (is_over) co_return;
    co_await err_.wait(fd_watch::readable, time_point::max());
  }
}

task<void> link::watch_end() {
  while (!child_.status() && !given_up_) {
    co_await gone_.wait(fd_watch::readable, time_point::max());
  }
  over_for_reader_.set();
  over_for_writer_.set();
  over_for_end_.set();
  out_.interrupt();
  err_.interrupt();
}

task<bool> link::ended_by(signal& over, time_point limit) {
  while (!child_.status() && loop_.now() < limit) co_await over.wait_until(limit);
  co_return child_.status().has_value();
}

// Secrets are replaced before the line is cut: cutting first could leave half of one.
void link::broke(std::string_view deed, std::string_view line, std::string_view request) {
  const std::string asked{request.substr(0, request.find('\n'))};
  died(fmt::format("{}; the line: {}; the request: {}", deed, quoted_line(without_secrets(line)),
                   quoted_line(asked)));
}

void link::died(std::string how) {
  if (dead_) return;
  dead_ = true;
  how_ = std::move(how);
  unsent_ = {};
  if (!child_.status()) child_.signal_all(SIGKILL);
  hello_.arrived.set();
  for (const auto& [id, call] : waiting_) call->arrived.set();
}

std::string link::sentence() const {
  return sentence(how_);
}

std::string link::sentence(const std::string& deed) const {
  const std::string words = without_secrets(last_words(errors_));
  return fmt::format("{}: {}{}", what_, deed,
                     words.empty() ? "" : fmt::format("; it wrote: {}", words));
}

std::string link::without_secrets(std::string_view text) const {
  return without_logins(lockmark::without_secrets(text, secrets_));
}

task<void> link::end() {
  write(close_line());
  ending_ = true;
  in_.interrupt();
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
