// The memory locks against the suite that every driver passes, and what only they promise.
#include "drivers/memory/memory.hpp"

#include <gtest/gtest.h>

#include "drivers/conformance/conformance.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const lockmark::lock_kind& kind : lockmark::memory::kinds()) {
    lockmark::conformance::add({.kind = kind, .target = "memory:", .in_process = true});
  }
  return RUN_ALL_TESTS();
}
