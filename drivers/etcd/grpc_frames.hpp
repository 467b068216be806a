// gRPC's framing: messages within the data of an HTTP/2 stream, and the text of its status. Bytes
// in, values out; knows no HTTP/2.
//
// Source: github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lockmark::etcd {

// The largest message that a server may send. What a lock needs to hear is below 1 KiB; only the
// names of its keys have no fixed length.
inline constexpr std::size_t largest_message = 64 << 10;

// A message with its prefix of five bytes: not compressed, and its length.
std::string framed(std::string_view message);

// Takes the bytes of one stream, in pieces of any size, and gives its messages.
class message_splitter {
 public:
  void feed(std::string_view bytes);

  // The next complete message, valid until the next call of either function; nothing if more bytes
  // are needed, or if the stream is wrong.
  std::optional<std::string_view> next();

  // What is wrong with the stream, which then has no further message: "a message of 5000000
  // bytes". Empty: nothing so far.
  const std::string& wrong() const { return wrong_; }

  // A message has begun that is not complete.
  bool inside_message() const { return taken_ < bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t taken_ = 0;  // of bytes_
  std::string wrong_;
};

// The text of a grpc-message header, whose bytes other than printable ASCII are percent-encoded. An
// encoding that is none is left as it is.
std::string percent_decoded(std::string_view text);

}  // namespace lockmark::etcd
