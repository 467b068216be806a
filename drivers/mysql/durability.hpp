// What a server's settings promise of committed changes when its machine loses power.
#pragma once

#include <string>

#include "harness/driver.hpp"

namespace lockmark::mysql {

// In a few words, by the settings that the server told as "server.NAME"; empty: it did not tell
// them. A binary log, if there is one, counts as well: after a crash, what is not in it is rolled
// back.
std::string durability_of(const description& said);

}  // namespace lockmark::mysql
