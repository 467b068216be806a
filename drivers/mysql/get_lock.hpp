// mysql/get_lock: a user lock of the server, bound to a connection.
#pragma once

#include "harness/driver.hpp"

namespace lockmark::mysql {

lock_kind get_lock();

}  // namespace lockmark::mysql
