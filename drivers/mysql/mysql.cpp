#include "drivers/mysql/mysql.hpp"

#include "drivers/mysql/for_update.hpp"
#include "drivers/mysql/optimistic_update_time.hpp"
#include "drivers/mysql/optimistic_version.hpp"

namespace lockmark::mysql {

std::vector<lock_kind> kinds() {
  return {for_update(), optimistic_version(), optimistic_update_time()};
}

}  // namespace lockmark::mysql
