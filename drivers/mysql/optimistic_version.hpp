// mysql/optimistic_version: no lock; a commit succeeds if nobody else committed since the read.
#pragma once

#include "harness/driver.hpp"

namespace lockmark::mysql {

lock_kind optimistic_version();

}  // namespace lockmark::mysql
