// Any bytes as input from a Redis server: they give the same replies in one piece, byte by byte and
// in two pieces; and replies that are written again are read the same.
#include <algorithm>
#include <cassert>
#include <cstdint>

#include "drivers/redis/resp.hpp"

namespace {

using namespace lockmark::redis;
using kind = reply::kind;
using state = reply_parser::state;

bool same(const reply& one, const reply& other) {
  return one.what == other.what && one.number == other.number && one.text == other.text &&
         std::ranges::equal(one.parts, other.parts, same);
}

struct reading {
  std::vector<reply> replies;
  state ended = state::incomplete;
};

void feed(reply_parser& parser, std::string_view piece, reading& into) {
  parser.feed(piece);
  reply next;
  while ((into.ended = parser.next(next)) == state::whole) into.replies.push_back(std::move(next));
}

// The same result twice, whatever came before.
void check_pieces(reply_parser& parser, std::string_view bytes, std::size_t size,
                  const reading& whole) {
  parser.reset();
  reading seen;
  feed(parser, bytes.substr(0, size), seen);
  for (std::size_t at = size; at < bytes.size(); at += size == 1 ? 1 : bytes.size() - size) {
    feed(parser, bytes.substr(at, size == 1 ? 1 : bytes.npos), seen);
  }
  assert(seen.ended == whole.ended && std::ranges::equal(seen.replies, whole.replies, same));
}

void write(const reply& r, std::string& out) {
  switch (r.what) {
    case kind::nil: out += "$-1\r\n"; return;
    case kind::status: out += '+' + r.text + "\r\n"; return;
    case kind::error: out += '-' + r.text + "\r\n"; return;
    case kind::integer: out += ':' + std::to_string(r.number) + "\r\n"; return;
    case kind::text: out += '$' + std::to_string(r.text.size()) + "\r\n" + r.text + "\r\n"; return;
    case kind::array: break;
  }
  out += '*' + std::to_string(r.parts.size()) + "\r\n";
  for (const reply& part : r.parts) write(part, out);
}

void check_written(reply_parser& parser, const reading& whole) {
  std::string bytes;
  for (const reply& r : whole.replies) write(r, bytes);
  parser.reset();
  reading again;
  feed(parser, bytes, again);
  assert(std::ranges::equal(again.replies, whole.replies, same));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  reply_parser parser;
  reading whole;
  feed(parser, bytes, whole);
  assert(whole.ended != state::whole);
  check_written(parser, whole);
  check_pieces(parser, bytes, 1, whole);
  // All cuts of a short input; of a long one only one, chosen by its length.
  const std::size_t first = size <= 32 ? 2 : 2 + size * 31 % (size - 2);
  const std::size_t last = size <= 32 ? size : first + 1;
  for (std::size_t cut = first; cut < last; ++cut) check_pieces(parser, bytes, cut, whole);
  return 0;
}
