// Redis's wire protocol (RESP2), apart from sockets: commands to bytes, bytes to replies.
//
// The parser is our own, although every distribution has hiredis, because a broken or malicious
// server must not cost more than a reply is worth: hiredis (0.14 to 1.3) keeps in memory whatever
// is announced and sent, and allocates an array's elements before the first of them has arrived.
// Besides, the callbacks by which its reader builds a reply differ between 0.14 (Debian 12) and 1.2
// (Debian 13).
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace lockmark::redis {

// One argument of a command: text, or a number written in decimal.
class argument {
 public:
  argument(std::string_view text) : text_(text) {}
  argument(const std::string& text) : text_(text) {}
  argument(const char* text) : text_(text) {}
  template <std::integral I>
  argument(I number)
      : size_(static_cast<std::size_t>(
            std::to_chars(digits_, digits_ + sizeof digits_, number).ptr - digits_)) {}

  std::string_view text() const { return size_ > 0 ? std::string_view{digits_, size_} : text_; }

 private:
  std::string_view text_;
  char digits_[20];
  std::size_t size_ = 0;
};

// Appends the command to `out`. REQUIRES: count > 0.
void append_command(std::string& out, const argument* arguments, std::size_t count);

inline void append_command(std::string& out, const std::vector<argument>& arguments) {
  append_command(out, arguments.data(), arguments.size());
}
template <class... Arguments>
void append_command(std::string& out, const Arguments&... arguments) {
  const argument all[] = {argument{arguments}...};
  append_command(out, all, sizeof...(arguments));
}

// The n-th word of a command in RESP, from 0; empty if it has fewer.
std::string_view word_of(std::string_view command, int n);

inline std::string_view name_of_command(std::string_view command) {
  return word_of(command, 0);
}

// All of `text` as a decimal number; nothing if it is none, or out of range.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text) {
  Number n{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return n;
}

struct reply {
  enum class kind : std::uint8_t { nil, status, error, integer, text, array };

  bool is(kind k) const { return what == k; }
  // An error that begins with this word: "NOSCRIPT No matching script".
  bool is_error(std::string_view word) const;

  kind what = kind::nil;
  std::int64_t number = 0;   // integer
  std::string text;          // status, error, text
  std::vector<reply> parts;  // array
};

// The limits of a reply. The answer to a lock takes a few bytes, INFO some ten thousand, the map of
// a large Cluster some hundred thousand.
struct reply_limits {
  // In memory: the bytes of its texts, and sizeof(reply) for each element of its arrays. (A growing
  // string or vector takes up to twice the size of its contents.)
  static constexpr std::size_t size = std::size_t{8} << 20;
  static constexpr std::size_t depth = 8;                     // arrays within arrays
  static constexpr std::size_t line = std::size_t{64} << 10;  // a status, an error, a number
};

// Turns bytes into replies as they arrive. Nothing is allocated ahead of the bytes that need it,
// whatever they announce; an announcement beyond the limits is refused before its contents arrive.
// A status, an integer, a nil or a short string allocates nothing.
class reply_parser {
 public:
  reply_parser() = default;
  reply_parser(const reply_parser&) = delete;  // it points into itself
  reply_parser& operator=(const reply_parser&) = delete;

  // Forgets all input: for a new connection.
  void reset();
  void feed(std::string_view bytes);

  // whole: `into` is the next reply. incomplete: feed more. malformed: this is not RESP2.
  // excessive: it is beyond reply_limits. Both of these are permanent until reset(): the connection
  // can only be closed.
  enum class state : std::uint8_t { whole, incomplete, malformed, excessive };
  state next(reply& into);

 private:
  struct open_array {
    reply* array;
    std::size_t missing;  // elements that have not begun
  };

  state read_value();
  state read_header(reply& r, char mark, std::string_view line);
  state begin_text(reply& r, std::string_view digits);
  state begin_array(reply& r, std::string_view digits);
  state read_text();
  reply& place();
  bool charge(std::size_t bytes);
  state fail(state how);

  std::string unread_;  // the input, from at_ on
  std::size_t at_ = 0;
  reply root_;                    // being built
  std::vector<open_array> open_;  // incomplete arrays, the outermost first
  reply* text_ = nullptr;         // the text being received, with its line's end
  std::size_t text_size_ = 0;     // as announced
  std::size_t charged_ = 0;
  state failed_ = state::whole;  // or the failure
};

}  // namespace lockmark::redis
