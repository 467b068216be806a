#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::zookeeper {

std::vector<lock_kind> kinds() {
  return {persistent(), ephemeral(), sequential(), semaphore_mutex(),
          semaphore(),  read(),      write(),      multi()};
}

}  // namespace lockmark::zookeeper
