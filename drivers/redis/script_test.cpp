#include "drivers/redis/script.hpp"

#include <gtest/gtest.h>

namespace lockmark::redis {
namespace {

// The name is the SHA-1 of the text, as in the answer to `SCRIPT LOAD "return 1"`.
TEST(script, is_named_by_its_sha1) {
  EXPECT_EQ(script{"return 1"}.sha1, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

// The fallback is the same command with the text in place of the name.
TEST(script, falls_back_to_its_text) {
  const script s{"return 1"};
  std::string evalsha;
  append_evalsha(evalsha, s, 1, "key", 7);
  std::string eval;
  append_command(eval, "EVAL", "return 1", 1, "key", 7);
  EXPECT_EQ(as_eval(evalsha, s), eval);
}

}  // namespace
}  // namespace lockmark::redis
