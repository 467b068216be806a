// The line that shows a run's progress.
#include "harness/cli/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockmark::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

run::progress half_way() {
  run::progress p;
  p.now = run::phase::measuring;
  p.fraction = 0.5;
  p.remaining_s = 12.3;
  p.tps = 4567.8;
  p.in_flight = 16;
  return p;
}

// An ordinary terminal has room for all of it.
TEST(progress_line, fits_80_columns) {
  EXPECT_EQ(progress_line("contended", half_way(), 80),
            "contended measuring [##########..........]  50 % 12 s left  4568/s  16 in flight");
}

// The bar is full at the end and empty at the beginning, and never longer.
TEST(progress_line, fills_its_bar) {
  run::progress p = half_way();
  p.fraction = 0;
  EXPECT_THAT(progress_line("x", p, 80), HasSubstr("[....................]   0 %"));
  p.fraction = 1;
  EXPECT_THAT(progress_line("x", p, 80), HasSubstr("[####################] 100 %"));
}

// A narrow terminal gets the figures without the bar; a very narrow one, what fits.
TEST(progress_line, gets_shorter_where_there_is_no_room) {
  EXPECT_EQ(progress_line("contended", half_way(), 40), "contended  50 %  4568/s");
  EXPECT_EQ(progress_line("contended", half_way(), 10), "contended ");
  EXPECT_EQ(progress_line("contended", half_way(), 0), "");
}

// Outside of the measurement there is no bar, only what is going on.
TEST(progress_line, names_the_phase) {
  run::progress p = half_way();
  p.now = run::phase::opening;
  EXPECT_EQ(progress_line("herd", p, 80), "herd connecting");
  p.now = run::phase::warming_up;
  EXPECT_EQ(progress_line("herd", p, 80), "herd warming up");
  p.now = run::phase::draining;
  EXPECT_EQ(progress_line("herd", p, 80), "herd draining");
  p.now = run::phase::cleaning;
  EXPECT_EQ(progress_line("herd", p, 80), "herd cleaning up");
}

// A violation is shown at once, in every width that has room for a word.
TEST(progress_line, shows_violations) {
  run::progress p = half_way();
  EXPECT_THAT(progress_line("contended", p, 120), Not(HasSubstr("VIOLATIONS")));
  p.violations = 3;
  EXPECT_THAT(progress_line("contended", p, 120),
              AllOf(HasSubstr("in flight"), HasSubstr("3 VIOLATIONS")));
  EXPECT_THAT(progress_line("contended", p, 80), HasSubstr("3 VIOLATIONS"));
  EXPECT_THAT(progress_line("contended", p, 40), HasSubstr("3 VIOLATIONS"));
}

}  // namespace
}  // namespace lockmark::cli
