// Any replies as messages to a subscriber and as answers of sentinels: everything read from a reply
// lies within it.
#include <cassert>
#include <cstdint>

#include "drivers/redis/replies.hpp"

namespace {

using namespace lockmark::redis;

void check_push(const reply& r, bool sharded) {
  const auto p = parse_push(r, sharded);
  if (!p) return;
  assert(r.parts.size() == 3 && p->channel == r.parts[1].text);
  assert(r.parts[0].text.starts_with('s') || !sharded);
  if (p->what == push::kind::message) {
    assert(p->text == r.parts[2].text);
  } else {
    assert(p->text.empty() && r.parts[2].is(reply::kind::integer));
  }
}

void check_sentinel(const reply& r) {
  const auto master = parse_master_address(r);
  assert(!master || (master->port > 0 && !master->host.empty() && r.parts.size() == 2));
  assert(!is_master(r) || r.parts[0].text == "master");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  reply_parser parser;
  parser.feed({reinterpret_cast<const char*>(data), size});
  reply r;
  while (parser.next(r) == reply_parser::state::whole) {
    check_push(r, false);
    check_push(r, true);
    check_sentinel(r);
  }
  return 0;
}
