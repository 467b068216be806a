// For the interoperability tests: the tables of the drivers whose locks are held to the real
// clients. Declared again here, because no driver includes another; the linker brings them.
#pragma once

#include <vector>

#include "harness/driver.hpp"

namespace lockmark::redis {
std::vector<lock_kind> kinds();
}
namespace lockmark::zookeeper {
std::vector<lock_kind> kinds();
}
namespace lockmark::mysql {
std::vector<lock_kind> kinds();
}
