// Identifies this build of lockmark, for the provenance of its results.
#pragma once

#include <string>

namespace lockmark::run {

struct build_info {
  std::string version;
  std::string git_revision;  // "unknown" outside a checkout
  bool git_dirty = false;    // tracked files differed from the revision
  std::string compiler;
  std::string build_type;   // "Release", "Debug", ...
  std::string sanitizers;   // empty: none
  bool assertions = false;  // debug build; its figures are never ranked
};

build_info this_build();

}  // namespace lockmark::run
