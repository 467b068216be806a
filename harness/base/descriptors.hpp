// The file descriptors of this process.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <limits>

namespace lockmark {

// How many this process may have; no limit: the largest number.
inline std::uint64_t descriptor_limit() {
  rlimit limit{};
  const bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? limit.rlim_cur : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace lockmark
