#include "drivers/postgres/options.hpp"

#include <gtest/gtest.h>

#include "drivers/postgres/lock_driver.hpp"
#include "drivers/postgres/postgres.hpp"
#include "drivers/postgres/sweeper.hpp"

namespace lockmark::postgres {
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

// What a commit waits for is left alone unless it is asked for.
TEST(options, set_what_a_commit_waits_for) {
  EXPECT_EQ(writing_settings({{"synchronous_commit", "server"}}).size(), 1U);
  EXPECT_EQ(writing_settings({{"synchronous_commit", "local"}}).back(),
            "SET synchronous_commit = local");
}

// The writers' lock knows its readers, and both their names.
TEST(kinds, belong_together) {
  EXPECT_EQ(advisory().readers, advisory_shared().name);
  EXPECT_TRUE(advisory_shared().has.has(feature::shared));
  EXPECT_EQ(advisory_shared().holders({}), 0U);
}

}  // namespace
}  // namespace lockmark::postgres
