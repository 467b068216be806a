#include "drivers/redis/resp.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lockmark::redis {
namespace {

constexpr std::size_t number_room = 20;
constexpr std::string_view line_end = "\r\n";
// The shortest value is "+\r\n".
constexpr std::size_t shortest_value = 3;

char* put_header(char* at, char mark, std::size_t number) {
  *at++ = mark;
  at = std::to_chars(at, at + number_room, number).ptr;
  *at++ = '\r';
  *at++ = '\n';
  return at;
}

// All of `text`, in decimal. RESP2 allows a plus sign before it.
std::optional<std::int64_t> number_of_line(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return whole_number<std::int64_t>(text);
}

}  // namespace

void append_command(std::string& out, const argument* arguments, std::size_t count) {
  std::size_t most = 1 + number_room + 2;
  for (std::size_t i = 0; i < count; ++i) {
    most += 1 + number_room + 2 + arguments[i].text().size() + 2;
  }
  const std::size_t before = out.size();
  out.resize(before + most);
  char* at = put_header(out.data() + before, '*', count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view text = arguments[i].text();
    at = put_header(at, '$', text.size());
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    at += text.size();
    *at++ = '\r';
    *at++ = '\n';
  }
  out.resize(static_cast<std::size_t>(at - out.data()));
}

std::string_view word_of(std::string_view command, int n) {
  auto at = command.find('$');
  while (true) {
    std::size_t size = 0;
    std::from_chars(command.data() + at + 1, command.data() + command.size(), size);
    const auto begin = command.find("\r\n", at) + 2;
    if (n-- == 0) return command.substr(begin, size);
    at = begin + size + 2;
    if (at >= command.size() || command[at] != '$') return {};
  }
}

bool reply::is_error(std::string_view word) const {
  return what == kind::error && text.starts_with(word) &&
         (text.size() == word.size() || text[word.size()] == ' ');
}

void reply_parser::reset() {
  unread_.clear();
  at_ = 0;
  std::exchange(root_, {});  // an assignment would keep its capacity
  open_.clear();
  text_ = nullptr;
  charged_ = 0;
  failed_ = state::whole;
}

void reply_parser::feed(std::string_view bytes) {
  if (failed_ != state::whole) return;
  unread_.erase(0, std::exchange(at_, 0));
  unread_.append(bytes);
}

reply_parser::state reply_parser::next(reply& into) {
  if (failed_ != state::whole) return failed_;
  do {
    const state s = text_ != nullptr ? read_text() : read_value();
    if (s != state::whole) return s;
    while (!open_.empty() && open_.back().missing == 0) open_.pop_back();
  } while (!open_.empty());
  into = std::exchange(root_, {});
  charged_ = 0;
  return state::whole;
}

// Reads a value up to the end of its line, which is all of it unless it is a text. An array counts
// as whole; its elements are the next values.
reply_parser::state reply_parser::read_value() {
  const std::string_view rest = std::string_view{unread_}.substr(at_);
  const auto end = rest.find(line_end);
  // The last byte may be the first half of the end.
  if (std::min(end, rest.size()) > reply_limits::line + (end == rest.npos ? 1 : 0)) {
    return fail(state::excessive);
  }
  // Any other message is refused at its first byte, which may be the only one to arrive.
  if (!rest.empty() && std::string_view{"+-:$*"}.find(rest[0]) == rest.npos) {
    return fail(state::malformed);
  }
  if (end == rest.npos) return state::incomplete;
  at_ += end + line_end.size();
  return read_header(place(), rest[0], rest.substr(1, end - 1));
}

reply_parser::state reply_parser::read_header(reply& r, char mark, std::string_view line) {
  if (mark == '$') return begin_text(r, line);
  if (mark == '*') return begin_array(r, line);
  if (mark == ':') {
    const auto number = number_of_line(line);
    if (!number) return fail(state::malformed);
    r.what = reply::kind::integer;
    r.number = *number;
    return state::whole;
  }
  if (!charge(line.size())) return fail(state::excessive);
  r.what = mark == '-' ? reply::kind::error : reply::kind::status;
  r.text.assign(line);
  return state::whole;
}

reply_parser::state reply_parser::begin_text(reply& r, std::string_view digits) {
  const auto size = number_of_line(digits);
  if (!size || *size < -1) return fail(state::malformed);
  if (*size < 0) return state::whole;  // nil
  if (!charge(static_cast<std::size_t>(*size))) return fail(state::excessive);
  r.what = reply::kind::text;
  text_ = &r;
  text_size_ = static_cast<std::size_t>(*size);
  return read_text();
}

reply_parser::state reply_parser::begin_array(reply& r, std::string_view digits) {
  const auto count = number_of_line(digits);
  if (!count || *count < -1) return fail(state::malformed);
  if (*count < 0) return state::whole;  // nil
  const auto parts = static_cast<std::size_t>(*count);
  const bool fits = parts <= reply_limits::size / sizeof(reply) && charge(parts * sizeof(reply));
  if (!fits || open_.size() == reply_limits::depth) return fail(state::excessive);
  r.what = reply::kind::array;
  r.parts.reserve(std::min(parts, (unread_.size() - at_) / shortest_value));
  open_.push_back({&r, parts});
  return state::whole;
}

// Takes the part of a text that has arrived; it needs no space in unread_ any more.
reply_parser::state reply_parser::read_text() {
  std::string& text = text_->text;
  const std::string_view rest = std::string_view{unread_}.substr(at_);
  const std::size_t taken = std::min(rest.size(), text_size_ - text.size());
  text.append(rest.substr(0, taken));
  at_ += taken;
  const std::string_view after = rest.substr(taken, line_end.size());
  if (text.size() < text_size_) return state::incomplete;
  if (!line_end.starts_with(after)) return fail(state::malformed);
  if (after.size() < line_end.size()) return state::incomplete;
  at_ += line_end.size();
  text_ = nullptr;
  return state::whole;
}

// The place of the next value. An array grows only while it is the innermost, so that pointers to
// the arrays around it stay valid.
reply& reply_parser::place() {
  if (open_.empty()) return root_;
  --open_.back().missing;
  return open_.back().array->parts.emplace_back();
}

bool reply_parser::charge(std::size_t bytes) {
  if (bytes > reply_limits::size - charged_) return false;
  charged_ += bytes;
  return true;
}

// Keeps nothing of a reply that will never be whole.
reply_parser::state reply_parser::fail(state how) {
  reset();
  failed_ = how;
  return how;
}

}  // namespace lockmark::redis
