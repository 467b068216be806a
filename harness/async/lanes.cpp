#include "harness/async/lanes.hpp"

#include <algorithm>
#include <utility>

#include "harness/async/scope.hpp"

namespace lockmark {
namespace {

struct queue_of_tasks {
  std::size_t next;
  std::size_t end;
  std::function<task<void>(std::size_t)> each;
};

task<void> run_lane(queue_of_tasks& all) {
  while (all.next < all.end) {
    const std::size_t mine = all.next++;
    try {
      co_await all.each(mine);
    } catch (...) {
      all.end = 0;
      throw;
    }
  }
}

}  // namespace

task<void> in_lanes(loop& l, std::size_t count, std::size_t lanes,
                    std::function<task<void>(std::size_t)> each) {
  queue_of_tasks all{0, count, std::move(each)};
  scope side_by_side{l};
  for (std::size_t i = 0; i < std::min(lanes, count); ++i) side_by_side.spawn(run_lane(all));
  co_await side_by_side.join();
}

}  // namespace lockmark
