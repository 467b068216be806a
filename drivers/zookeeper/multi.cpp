// zookeeper/multi: several mutexes taken as one, Curator's InterProcessMultiLock.
//
// The mutexes are InterProcessMutexes on <key>/0, <key>/1 ..., acquired in this order by every
// client and released in reverse. Curator's time limit applies to each mutex, here it applies to
// all together; Curator tries the remaining mutexes after a failure, here the first failure ends
// the attempt.
#include <fmt/format.h>

#include "drivers/zookeeper/driver.hpp"
#include "drivers/zookeeper/node_session.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::zookeeper {
namespace {

std::vector<std::string> multi_nodes(const option_values& options) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count_of(options, "locks"); ++i)
    names.push_back(fmt::format("{}", i));
  return names;
}

class multi_session final : public node_session {
 public:
  multi_session(loop& l, const instance& who, session_setup setup)
      : node_session(l, who, setup), locks_(multi_nodes(setup.options)) {}

 private:
  bool reentrant() const override { return true; }

  // The token is that of the last mutex, created while all others were held.
  task<outcome<grant>> take(std::shared_ptr<handle> zk, request r,
                            std::vector<node>& taken) override {
    const limits until(r);
    outcome<grant> got = refusal::unavailable;
    for (const std::string& lock : locks_) {
      node mine = nodes_.plan(zk, fmt::format("{}/{}", path_of(r), lock));
      got = co_await enter(mutex_queue, mine, until);
      if (!got.done()) break;
      taken.push_back(std::move(mine));
    }
    if (got.done()) co_return got;
    // Releases the others too; an outcome already in doubt stays in doubt.
    const refusal why = got.refused() ? got.why_refused() : refusal::unavailable;
    const auto left = co_await nodes_.give_up(std::move(taken), why, until);
    co_return got.in_doubt() ? got : left;
  }

  const std::vector<std::string> locks_;
};

}  // namespace

lock_kind multi() {
  return {
      .name = "zookeeper/multi",
      .summary = "several sequential locks taken in order, released in reverse",
      .has = feature::fencing_token | feature::session_bound | feature::session_timeout |
             feature::server_wait | feature::fair | feature::reentrant,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "Curator 5.4, InterProcessMultiLock",
      .cost = {9, 9},
      .options = {count_option("locks", "3", "how many locks a key is made of")},
      .make = make_driver_of<multi_session, multi_nodes>,
  };
}

}  // namespace lockmark::zookeeper
