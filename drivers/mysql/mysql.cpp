#include "drivers/mysql/mysql.hpp"

#include "drivers/mysql/for_update.hpp"
#include "drivers/mysql/get_lock.hpp"
#include "drivers/mysql/optimistic_update_time.hpp"
#include "drivers/mysql/optimistic_version.hpp"
#include "drivers/mysql/shedlock.hpp"
#include "drivers/mysql/unique_key.hpp"
#include "drivers/mysql/unique_key_reentrant.hpp"

namespace lockmark::mysql {

std::vector<lock_kind> kinds() {
  return {for_update(), unique_key(),         unique_key_reentrant(),  get_lock(),
          shedlock(),   optimistic_version(), optimistic_update_time()};
}

}  // namespace lockmark::mysql
