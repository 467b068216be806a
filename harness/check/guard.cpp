#include "harness/check/guard.hpp"

namespace lockmark::check {

bool guard::see_token(guarded_register& r, std::uint64_t token) {
  if (!fenced_ || token == 0) return false;
  std::uint64_t highest = r.highest_token.load();
  while (token > highest && !r.highest_token.compare_exchange_weak(highest, token)) continue;
  if (token >= highest) return false;
  r.stale_accesses.fetch_add(1);
  return true;
}

std::uint64_t guard::read(std::uint32_t key, std::uint64_t token) {
  guarded_register& r = registers_[key];
  see_token(r, token);
  if (fenced_ && token != 0) r.last_shown.store(token);
  return r.content.load();
}

void guard::write(std::uint32_t key, std::uint64_t token, std::uint64_t had_read) {
  guarded_register& r = registers_[key];
  const bool stale = see_token(r, token);
  if (!fenced_ || token == 0) {
    r.without_token.fetch_add(1);
  } else if (stale != (token != r.last_shown.load())) {
    r.misjudged_without_order.fetch_add(1);
  }
  if (r.content.fetch_add(1) != had_read) r.lost_updates.fetch_add(1);
}

guard_counts guard::counts() const {
  guard_counts all;
  for (const guarded_register& r : registers_) {
    all.writes += r.content.load();
    all.lost_updates += r.lost_updates.load();
    all.stale_accesses += r.stale_accesses.load();
    all.writes_without_token += r.without_token.load();
    all.misjudged_without_order += r.misjudged_without_order.load();
  }
  all.fenced = fenced_ && (all.writes == 0 || all.writes_without_token < all.writes);
  return all;
}

}  // namespace lockmark::check
