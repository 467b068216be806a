// Any bytes as the data of a gRPC stream: the same messages in one piece, byte by byte and in two
// pieces; and framed again they are the bytes that they came from.
#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "drivers/etcd/grpc_frames.hpp"

namespace {

using namespace lockmark::etcd;

struct reading {
  std::vector<std::string> messages;
  bool wrong = false;
  bool inside = false;
};

void feed(message_splitter& s, std::string_view piece, reading& into) {
  s.feed(piece);
  while (const auto message = s.next()) into.messages.emplace_back(*message);
  into.wrong = !s.wrong().empty();
  into.inside = s.inside_message();
}

reading read_in(std::string_view bytes, std::size_t first, std::size_t step) {
  message_splitter s;
  reading all;
  feed(s, bytes.substr(0, first), all);
  for (std::size_t at = first; at < bytes.size(); at += step) feed(s, bytes.substr(at, step), all);
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const reading whole = read_in(bytes, size, 1);
  const reading single = read_in(bytes, 0, 1);
  const reading halves = read_in(bytes, size / 2, size + 1);
  assert(whole.messages == single.messages && whole.wrong == single.wrong);
  assert(whole.messages == halves.messages && whole.wrong == halves.wrong);
  std::string again;
  for (const std::string& message : whole.messages) {
    assert(message.size() <= largest_message);
    again += framed(message);
  }
  assert(bytes.starts_with(again));
  assert(whole.wrong || whole.inside == (again.size() < bytes.size()));
  assert(percent_decoded(bytes).size() <= bytes.size());
  return 0;
}
