// Any list of children, one per line: exactly one of them holds the mutex; a writer that holds the
// lock is its only holder, and there is always a holder.
#include <algorithm>
#include <cassert>
#include <cstdint>

#include "drivers/zookeeper/paths.hpp"

namespace lockmark::zookeeper {
namespace {

using names = std::vector<std::string>;

// Distinct, like the children of a node.
names children_of(std::string_view lines) {
  names found;
  while (!lines.empty() && found.size() < 16) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (std::find(found.begin(), found.end(), line) == found.end()) found.emplace_back(line);
  }
  return found;
}

// True if its turn has come; if not, it waits for another node.
bool holds(const queue_kind& kind, const names& children, const std::string& mine) {
  const place here = kind.find(children, mine);
  assert(here.listed);
  assert(!here.behind ||
         (*here.behind != mine && std::count(children.begin(), children.end(), *here.behind) == 1));
  return !here.behind;
}

void check_mutex(const names& children) {
  const auto holders = std::count_if(children.begin(), children.end(), [&](const auto& child) {
    return holds(mutex_queue, children, child);
  });
  assert(holders == 1);
}

void check_read_write(const names& children) {
  int readers = 0;
  int writers = 0;
  for (const std::string& child : children) {
    const bool writes = child.find(writer_queue.lock_name) != child.npos;
    const bool held = holds(writes ? writer_queue : reader_queue, children, child);
    (writes ? writers : readers) += held ? 1 : 0;
  }
  assert(writers <= 1 && (writers == 0 || readers == 0) && readers + writers >= 1);
}

}  // namespace
}  // namespace lockmark::zookeeper

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockmark::zookeeper;
  const names children = children_of({reinterpret_cast<const char*>(data), size});
  if (children.empty()) return 0;
  check_mutex(children);
  check_read_write(children);
  return 0;
}
