#include "harness/run/build_info.hpp"

#include "lockmark_revision.hpp"  // made by revision.cmake in every build

namespace lockmark::run {

build_info this_build() {
  build_info b;
  b.version = LOCKMARK_VERSION;
  b.git_revision = LOCKMARK_GIT_REVISION;
  b.git_dirty = LOCKMARK_GIT_DIRTY;
  b.compiler = LOCKMARK_COMPILER;
  b.build_type = LOCKMARK_BUILD_TYPE;
  b.sanitizers = LOCKMARK_SANITIZE;
#ifndef NDEBUG
  b.assertions = true;
#endif
  return b;
}

}  // namespace lockmark::run
