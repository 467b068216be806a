// Any replies as answers to CLUSTER SLOTS, and any error as a redirection: an accepted map has one
// master per slot, and a refused one leaves the previous one unchanged.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

#include "drivers/redis/cluster_map.hpp"
#include "drivers/redis/slot.hpp"

namespace {

using namespace lockmark::redis;

const host_port asked{"10.0.0.1", 7000};
const cluster_map::translation nat{{{"h", 1}, {"outside", 9001}}};
constexpr std::array<std::uint16_t, 5> some_slots{0, 1, 100, 8191, slot_count - 1};

std::string owners(const cluster_map& map) {
  std::string all;
  for (const std::uint16_t slot : some_slots) {
    const host_port* const master = map.master_of(slot);
    if (master != nullptr) {
      assert(std::ranges::count(map.masters(), *master) == 1 && master->port > 0);
      all += master->host + ':' + std::to_string(master->port);
    }
    all += ' ';
  }
  return all;
}

// Each slot of an accepted map has the master of its range; the others have none.
void check_ranges(const cluster_map& map, const reply& slots) {
  for (const std::uint16_t slot : some_slots) {
    const auto holds = [slot](const reply& range) {
      return range.parts[0].number <= slot && slot <= range.parts[1].number;
    };
    const auto owning = std::ranges::count_if(slots.parts, holds);
    assert(owning <= 1 && (map.master_of(slot) != nullptr) == (owning == 1));
  }
  assert(map.masters().size() <= slots.parts.size());
}

void check_redirection(cluster_map& map, const reply& r) {
  const auto told = parse_redirection(r.text, asked);
  if (!told) return;
  assert(told->slot < slot_count && told->to.port > 0);
  map.move(told->slot, told->to);
  assert(*map.master_of(told->slot) == told->to);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  reply_parser parser;
  parser.feed({reinterpret_cast<const char*>(data), size});
  cluster_map map;
  reply r;
  while (parser.next(r) == reply_parser::state::whole) {
    const std::string before = owners(map);
    if (map.read(r, asked, nat)) {
      check_ranges(map, r);
    } else {
      assert(owners(map) == before);
    }
    check_redirection(map, r);
  }
  owners(map);
  return 0;
}
