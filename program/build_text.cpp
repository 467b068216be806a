#include "program/build_text.hpp"

#include <fmt/core.h>

#include "harness/run/build_info.hpp"

namespace lockmark::cli {

std::string build_text() {
  const run::build_info b = run::this_build();
  return fmt::format("lockmark {} ({}{})", b.version, b.git_revision.substr(0, 12),
                     b.git_dirty ? ", changed" : "");
}

}  // namespace lockmark::cli
