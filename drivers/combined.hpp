// Two drivers as one. Knows no backend.
#pragma once

#include <memory>

#include "harness/driver.hpp"

namespace lockmark {

// `writers` with the lock of their readers beside it, to which goes what is asked with
// request::shared. Each instance has a session of either, as an application with both halves of a
// read-write lock has. It has the features that both have. REQUIRES: writers.readers is the name of
// `readers`.
lock_kind with_readers(const lock_kind& writers, const lock_kind& readers);

// `inside`, whose server counts are those that `counting` gets: for lock clients in processes of
// their own, which do not count. `counting` needs no prepare() for it.
std::unique_ptr<driver> counted_by(std::unique_ptr<driver> inside,
                                   std::unique_ptr<driver> counting);

}  // namespace lockmark
