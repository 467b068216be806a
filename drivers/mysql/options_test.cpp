#include "drivers/mysql/options.hpp"

#include <gtest/gtest.h>

#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/sweeper.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;

// Durations have a unit and are above zero.
TEST(options, read_durations) {
  EXPECT_EQ(read_duration("250ms"), 250ms);
  EXPECT_EQ(read_duration("30s"), 30s);
  for (const char* wrong : {"", "30", "0s", "-1s", "1m", "90000s", "s"}) {
    EXPECT_FALSE(read_duration(wrong)) << wrong;
  }
  EXPECT_TRUE(accepts_sweep("off"));
  EXPECT_FALSE(accepts_sweep("on"));
}

// Every option accepts its preset, and no nonsense.
TEST(options, accept_their_presets) {
  for (const lock_kind& kind : kinds()) {
    for (const lock_option& o : kind.options) {
      EXPECT_TRUE(o.accepts(o.preset)) << kind.name << " " << o.name;
      EXPECT_FALSE(o.accepts("no such: value")) << kind.name << " " << o.name;
    }
  }
}

}  // namespace
}  // namespace lockmark::mysql
