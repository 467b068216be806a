#include "drivers/zookeeper/zookeeper.hpp"

#include "drivers/zookeeper/driver.hpp"

namespace lockmark::zookeeper {

std::vector<lock_kind> kinds() {
  return {{
      .name = "zookeeper/sequential",
      .summary = "a queue of ephemeral sequential nodes, each watching the one before it",
      .has = feature::fencing_token | feature::session_bound | feature::server_wait |
             feature::fair | feature::reentrant,
      .promises = safety::session,
      .topologies = "zookeeper",
      .algorithm = "Curator 5.4, InterProcessMutex",
      .options = {},
      .make = make_driver,
  }};
}

}  // namespace lockmark::zookeeper
