// A lock and the lock of its readers as one: what is asked with request::shared goes to the
// readers'.
//
// Each instance has a session of either, as an application with both halves of a read-write lock
// has. Knows no backend.
#pragma once

#include "harness/driver.hpp"

namespace lockmark {

// `writers` with `readers` beside it. It has what both have. REQUIRES: writers.readers is the name
// of `readers`.
lock_kind with_readers(const lock_kind& writers, const lock_kind& readers);

}  // namespace lockmark
