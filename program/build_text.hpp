// This build, for people and for those who must have the same: "lockmark 0.1.0 (1a2b3c4)".
#pragma once

#include <string>

namespace lockmark::cli {

std::string build_text();

}  // namespace lockmark::cli
