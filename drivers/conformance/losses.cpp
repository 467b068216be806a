#include "drivers/conformance/losses.hpp"

namespace lockmark::conformance {

void lose_replies(stage& s) {
  if (!s.about().quorum) return s.network().set(proxy_mode::drop_replies);
  for (std::size_t n = 0; n < s.network().hosts(); ++n) {
    s.network().set_host(n, proxy_mode::drop_replies);
  }
}

task<party> warm_party(stage& s) {
  const party a = co_await s.join_through_proxy();
  co_await a.take();
  co_await a.give_up();
  // A lock may not wait for the last reply to a release, but that comes before the reply to this.
  if (a.has(feature::renewable)) co_await a.renew(patience);
  co_return a.with_short_lease();
}

task<outcome<nothing>> settle(party who) {
  const time_point end = who.on->in(patience);
  while (true) {
    const auto gone = co_await who.release(1s);
    const bool settled = gone.done() || gone.refused(refusal::not_owner);
    if (settled || who.on->l().now() >= end) co_return gone;
    co_await who.on->l().sleep_for(20ms);
  }
}

}  // namespace lockmark::conformance
