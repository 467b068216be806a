// Locks of third-party clients, in their own languages: each instance is a child process that
// speaks the line protocol of README.md beside this file.
//
// `exec/lock` is the program named by the target; the others are real lock libraries behind the
// adapters of deploy/interop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::exec {

std::vector<lock_kind> kinds();

// The program of a real client: "<folder>/<client>/adapter", where the folder is the environment's
// LOCKMARK_INTEROP, or the build tree's interop folder. Throws usage_error if it is not built.
std::string find_adapter(std::string_view client);

}  // namespace lockmark::exec
