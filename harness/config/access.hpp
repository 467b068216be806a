// The query of a network target: secrets kept elsewhere, TLS, translated addresses.
#pragma once

#include <optional>

#include "harness/config/target.hpp"

namespace lockmark::config {

// Fills in the members that `t.query` sets. The problem never quotes a value that may be a secret.
std::optional<problem> read_access(target& t);

}  // namespace lockmark::config
