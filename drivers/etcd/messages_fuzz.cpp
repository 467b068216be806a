// Any bytes as a reply of etcd's, to each kind of request: what is believed keeps its promises.
#include <cassert>
#include <cstdint>
#include <string_view>

#include "drivers/etcd/messages.hpp"

namespace {

using namespace lockmark::etcd;

void read_all(std::string_view bytes) {
  if (const auto e = read_enrolled(bytes)) assert(e->mine > 0);
  if (const auto c = read_created(bytes)) assert(c->at > 0);
  if (const auto f = read_found(bytes)) assert(f->at > 0 && f->key.empty() == (f->created == 0));
  if (const auto d = read_deleted(bytes)) assert(*d >= 0);
  if (const auto w = read_watch_news(bytes)) assert(w->ended || !w->compacted);
  if (const auto l = read_lease(bytes)) assert(l->id != 0 && l->ttl_s > 0);
  if (const auto k = read_kept_alive(bytes)) assert(k->id != 0);
  if (const auto l = read_locked(bytes)) assert(!l->key.empty() && l->at > 0);
  if (const auto s = read_status(bytes)) assert(!s->version.empty());
  if (const auto t = read_token(bytes)) assert(!t->empty());
  read_alarms(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_all({reinterpret_cast<const char*>(data), size});
  return 0;
}
