#include "drivers/redis/cluster_map.hpp"

#include <algorithm>
#include <utility>

#include "drivers/redis/slot.hpp"

namespace lockmark::redis {
namespace {

using kind = reply::kind;

bool is_slot(const reply& r) {
  return r.is(kind::integer) && r.number >= 0 && r.number < slot_count;
}

// [first, last, [host, port, ...], replicas...]. A host can be nil, empty or "?": unknown.
bool is_range(const reply& r) {
  if (r.parts.size() < 3 || !is_slot(r.parts[0]) || !is_slot(r.parts[1])) return false;
  const reply& master = r.parts[2];
  const auto names_a_host = [](const reply& host) {
    return host.is(kind::text) || host.is(kind::status) || host.is(kind::nil);
  };
  return r.parts[0].number <= r.parts[1].number && master.parts.size() >= 2 &&
         names_a_host(master.parts[0]) && master.parts[1].is(kind::integer) &&
         master.parts[1].number > 0 && master.parts[1].number <= 65535;
}

// One slot has one master. REQUIRES: each is_range.
bool overlap(const std::vector<reply>& ranges) {
  std::vector<std::pair<std::int64_t, std::int64_t>> sorted;
  for (const reply& r : ranges) sorted.emplace_back(r.parts[0].number, r.parts[1].number);
  std::ranges::sort(sorted);
  const auto meets = [](const auto& one, const auto& next) { return next.first <= one.second; };
  return std::ranges::adjacent_find(sorted, meets) != sorted.end();
}

host_port address_in(const reply& node, const host_port& asked,
                     const cluster_map::translation& nat) {
  const std::string& host = node.parts[0].text;
  host_port told{host.empty() || host == "?" ? asked.host : host,
                 static_cast<std::uint16_t>(node.parts[1].number)};
  const auto other = nat.find(told);
  return other == nat.end() ? told : other->second;
}

}  // namespace

std::optional<redirection> parse_redirection(std::string_view error, const host_port& asked) {
  redirection r;
  if (error.starts_with("MOVED ")) {
    error.remove_prefix(6);
  } else if (error.starts_with("ASK ")) {
    r.what = redirection::kind::ask;
    error.remove_prefix(4);
  } else {
    return std::nullopt;
  }
  const auto blank = error.find(' ');
  const auto colon = error.rfind(':');  // the host may be an IPv6 address
  if (blank == error.npos || colon == error.npos || colon < blank) return std::nullopt;
  const auto slot = whole_number<std::uint16_t>(error.substr(0, blank));
  const auto port = whole_number<std::uint16_t>(error.substr(colon + 1));
  if (!slot || *slot >= slot_count || !port || *port == 0) return std::nullopt;
  r.slot = *slot;
  const auto host = error.substr(blank + 1, colon - blank - 1);
  r.to = {host.empty() || host == "?" ? asked.host : std::string{host}, *port};
  return r;
}

bool cluster_map::read(const reply& slots, const host_port& asked, const translation& nat) {
  if (slots.parts.empty() || !std::ranges::all_of(slots.parts, is_range)) return false;
  if (overlap(slots.parts)) return false;
  masters_.clear();
  ranges_.clear();
  moved_.clear();
  for (const reply& r : slots.parts) {
    ranges_.push_back({static_cast<std::uint16_t>(r.parts[0].number),
                       static_cast<std::uint16_t>(r.parts[1].number),
                       index_of(address_in(r.parts[2], asked, nat))});
  }
  std::ranges::sort(ranges_, {}, &range::first);
  return true;
}

const host_port* cluster_map::master_of(std::uint16_t slot) const {
  for (const range& r : moved_) {
    if (r.first == slot) return &masters_[r.master];
  }
  const auto after = std::ranges::upper_bound(ranges_, slot, {}, &range::first);
  if (after == ranges_.begin()) return nullptr;
  const range& r = *std::prev(after);
  return slot <= r.last ? &masters_[r.master] : nullptr;
}

void cluster_map::move(std::uint16_t slot, const host_port& to) {
  std::erase_if(moved_, [slot](const range& r) { return r.first == slot; });
  moved_.push_back({slot, slot, index_of(to)});
}

std::size_t cluster_map::index_of(const host_port& master) {
  const auto at = std::ranges::find(masters_, master) - masters_.begin();
  if (at == std::ssize(masters_)) masters_.push_back(master);
  return static_cast<std::size_t>(at);
}

}  // namespace lockmark::redis
