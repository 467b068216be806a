// Redis's wire protocol (RESP2), apart from sockets: commands to bytes, bytes to replies.
//
// Parsing is hiredis's reader; it builds our own `reply` in place, so that a status, an integer, a
// nil or a short string allocates nothing.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;

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

template <class... Arguments>
void append_command(std::string& out, const Arguments&... arguments) {
  const argument all[] = {argument{arguments}...};
  append_command(out, all, sizeof...(arguments));
}

struct reply {
  enum class kind : std::uint8_t { nil, status, error, integer, text, array };

  bool is(kind k) const { return what == k; }
  // An error that begins with this word, as in "NOSCRIPT No matching script".
  bool is_error(std::string_view word) const;

  kind what = kind::nil;
  std::int64_t number = 0;   // integer
  std::string text;          // status, error, text
  std::vector<reply> parts;  // array
};

class reply_parser {
 public:
  reply_parser();
  reply_parser(const reply_parser&) = delete;
  reply_parser& operator=(const reply_parser&) = delete;
  ~reply_parser();

  // Forgets what was fed: for a new connection.
  void reset();
  void feed(std::string_view bytes);

  // whole: `into` is the next reply. incomplete: feed more. malformed: this is not RESP2, and the
  // connection can only be closed.
  enum class state : std::uint8_t { whole, incomplete, malformed };
  state next(reply& into);

 private:
  struct freed {
    void operator()(redisReader* r) const;
  };
  std::unique_ptr<redisReader, freed> reader_;
  reply root_;  // the reply being built; the reader points into it
};

}  // namespace lockmark::redis
