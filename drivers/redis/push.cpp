#include "drivers/redis/push.hpp"

namespace lockmark::redis {

std::optional<push> parse_push(const reply& r, bool sharded) {
  using kind = reply::kind;
  if (r.parts.size() != 3 || !r.parts[0].is(kind::text) || !r.parts[1].is(kind::text)) {
    return std::nullopt;
  }
  std::string_view what = r.parts[0].text;
  if (sharded) {
    if (!what.starts_with('s')) return std::nullopt;
    what.remove_prefix(1);
  }
  push p{.channel = r.parts[1].text, .text = {}};
  const reply& last = r.parts[2];
  if (what == "message" && last.is(kind::text)) {
    p.text = last.text;
    return p;
  }
  p.what = what == "subscribe" ? push::kind::subscribed : push::kind::unsubscribed;
  const bool is_known = what == "subscribe" || what == "unsubscribe";
  if (!is_known || !last.is(kind::integer)) return std::nullopt;
  return p;
}

}  // namespace lockmark::redis
