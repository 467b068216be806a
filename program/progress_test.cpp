// The progress line of a run, and the control sequences for terminals.
#include "program/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockmark::cli {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

run::progress half_way() {
  run::progress p;
  p.now = run::phase::measuring;
  p.fraction = 0.5;
  p.remaining_s = 12.3;
  p.tps = 4567.8;
  p.in_flight = 16;
  p.has_point = true;
  p.success_rate = 0.998;
  p.response_p50 = {1'200'000, false};
  p.response_p99 = {12'340'000, false};
  return p;
}

// A wide terminal has room for everything.
TEST(progress_line, is_full_at_100_columns) {
  EXPECT_EQ(
      progress_line("contended", half_way(), 99),
      "contended  [#####.....]   50 %  12 s left  4568/s  99.80 % ok  p50 1.2 ms p99 12.3 ms  "
      "16 in flight");
  EXPECT_THAT(progress_line("contended", half_way(), 140),
              HasSubstr("[##########..........]   50 %"));
}

// A usual one has room for the most important parts.
TEST(progress_line, fits_80_columns) {
  EXPECT_EQ(progress_line("contended", half_way(), 79),
            "contended  [#####.....]   50 %  12 s left  4568/s  99.80 % ok  p99 12.3 ms");
  EXPECT_EQ(progress_line("12/28 redis/lua contended on redis-sentinel", half_way(), 79),
            "12/28 redis/lua contended on redis-sentinel   50 %  12 s left  4568/s");
}

// A narrow one gets the figures without the bar, and the beginning of the name; a very narrow one
// gets whatever fits.
TEST(progress_line, gets_shorter_where_there_is_no_room) {
  EXPECT_EQ(progress_line("contended", half_way(), 39), "contended   50 %  12 s left  4568/s");
  EXPECT_EQ(progress_line("12/28 redis/lua contended on redis", half_way(), 39),
            "12/28 redis/l   50 %  12 s left  4568/s");
  EXPECT_EQ(progress_line("contended", half_way(), 19), "cont   50 %  4568/s");
  EXPECT_EQ(progress_line("contended", half_way(), 4), " 50 ");
  EXPECT_EQ(progress_line("contended", half_way(), 0), "");
}

// At any width and with any contents, no line is too wide.
TEST(progress_line, is_never_wider_than_the_terminal) {
  for (const bool alarming : {false, true}) {
    for (const run::phase now : {run::phase::opening, run::phase::warming_up, run::phase::measuring,
                                 run::phase::draining, run::phase::cleaning}) {
      run::progress p = half_way();
      p.now = now;
      p.elapsed_s = 3700;
      p.violations = alarming ? 123'456 : 0;
      p.server_silent_s = alarming ? 12.3 : 0;
      for (std::size_t width = 0; width < 200; ++width) {
        EXPECT_LE(progress_line("redis/lua contended", p, width, {}, 800).size(), width);
      }
    }
  }
}

// The bar is full at the end and empty at the beginning, and never longer.
TEST(progress_line, fills_its_bar) {
  run::progress p = half_way();
  p.fraction = 0;
  EXPECT_THAT(progress_line("x", p, 140), HasSubstr("[....................]    0 %"));
  p.fraction = 1;
  EXPECT_THAT(progress_line("x", p, 140), HasSubstr("[####################]  100 %"));
}

// Where a tenth times out, p99 is beyond the time-out, and nothing that the grants say.
TEST(progress_line, shows_a_quantile_among_attempts_that_were_not_granted) {
  run::progress p = half_way();
  p.success_rate = 0.9;
  p.response_p99 = {1'000'000'000, true};
  EXPECT_THAT(progress_line("x", p, 140), HasSubstr("90.0 % ok  p50 1.2 ms p99 > 1.0 s"));
  EXPECT_THAT(progress_log_line("x", p), HasSubstr("p50 1.2 ms p99 > 1.0 s"));
}

// Before the first complete interval there is no success or latency.
TEST(progress_line, says_only_what_is_known) {
  run::progress p = half_way();
  p.response_p50 = p.response_p99 = {};
  EXPECT_THAT(progress_line("x", p, 140), AllOf(HasSubstr("% ok"), Not(HasSubstr("p99"))));
  p.has_point = false;
  EXPECT_THAT(progress_line("x", p, 140), Not(HasSubstr("ok")));
}

// Outside the measurement there is no bar, only the activity and its duration.
TEST(progress_line, names_the_phase) {
  run::progress p = half_way();
  p.now = run::phase::opening;
  EXPECT_EQ(progress_line("herd", p, 79), "herd  connecting");
  p.connected = 812;
  p.clients = 2000;
  EXPECT_EQ(progress_line("herd", p, 79), "herd  connecting  812 of 2000 clients");
  p.now = run::phase::warming_up;
  p.elapsed_s = 3;
  EXPECT_EQ(progress_line("herd", p, 79), "herd  warming up  3 s  4568/s  16 in flight");
  EXPECT_EQ(progress_line("herd", p, 19), "herd  warming up");
  p.now = run::phase::draining;
  EXPECT_EQ(progress_line("herd", p, 79), "herd  draining  3 s  16 in flight");
  p.now = run::phase::cleaning;
  p.elapsed_s = 0;
  EXPECT_EQ(progress_line("herd", p, 79), "herd  cleaning up");
}

// A violation is shown at once, at every width with room for a word.
TEST(progress_line, shows_violations) {
  run::progress p = half_way();
  EXPECT_THAT(progress_line("contended", p, 119), Not(HasSubstr("VIOLATION")));
  p.violations = 3;
  for (const std::size_t width : {139U, 99U, 79U, 39U, 19U}) {
    EXPECT_THAT(progress_line("contended", p, width), HasSubstr("3 VIOLATIONS")) << width;
  }
  p.violations = 1;
  EXPECT_THAT(progress_line("contended", p, 79), EndsWith("1 VIOLATION"));
  p.now = run::phase::warming_up;
  EXPECT_THAT(progress_line("contended", p, 39), HasSubstr("1 VIOLATION"));
}

// A silent server is named as such, in every phase, but not after a mere hiccup.
TEST(progress_line, shows_a_silent_server) {
  run::progress p = half_way();
  p.server_silent_s = 0.4;
  EXPECT_THAT(progress_line("contended", p, 79), Not(HasSubstr("no answer")));
  p.server_silent_s = 2.1;
  EXPECT_THAT(progress_line("contended", p, 79), EndsWith("no answer for 2.1 s"));
  EXPECT_THAT(progress_line("contended", p, 39), EndsWith("no answer for 2.1 s"));
  p.now = run::phase::draining;
  EXPECT_THAT(progress_line("contended", p, 79), EndsWith("no answer for 2.1 s"));
}

// For a table, also the estimated time for all of it.
TEST(progress_line, shows_what_is_left_of_a_table) {
  EXPECT_THAT(progress_line("1/28 redis/lua", half_way(), 119, {}, 600),
              HasSubstr("12 s left, table 10 min"));
  EXPECT_THAT(progress_line("1/28 redis/lua", half_way(), 39, {}, 600), Not(HasSubstr("table")));
}

// Red is for alarms; without a style there is no control character.
TEST(progress_line, paints_alarms_red) {
  run::progress p = half_way();
  p.violations = 3;
  const report::style look = style_of({true, true});
  EXPECT_THAT(progress_line("contended", p, 99, look), EndsWith("\033[31m3 VIOLATIONS\033[0m"));
  EXPECT_THAT(progress_line("contended", p, 99, style_of({true, false})), Not(HasSubstr("\033")));
}

// A pipe gets all known figures, without a bar and in every phase.
TEST(progress_log_line, says_everything_plainly) {
  run::progress p = half_way();
  EXPECT_EQ(progress_log_line("contended", p),
            "contended measuring   50 %  12 s left  4568/s  99.80 % ok  p50 1.2 ms p99 12.3 ms  "
            "16 in flight");
  p.server_silent_s = 2.1;
  EXPECT_THAT(progress_log_line("contended", p), EndsWith("  no answer for 2.1 s"));
  p.now = run::phase::warming_up;
  p.elapsed_s = 2;
  EXPECT_THAT(progress_log_line("contended", p), StartsWith("contended warming up  2 s  4568/s"));
}

// A file's name cannot send commands to a terminal.
TEST(printable, leaves_no_control_character) {
  EXPECT_EQ(printable("a\033[2Jb\nc\x7f"), "a?[2Jb?c?");
  EXPECT_EQ(printable("caf\xc3\xa9 \xc2\x9b[2J \xc2\xb5"), "caf\xc3\xa9 ?[2J \xc2\xb5");
}

// Names with multi-byte characters are cut between characters.
TEST(progress_line, cuts_whole_characters) {
  EXPECT_EQ(progress_line("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", half_way(), 19),
            "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9   50 %  4568/s");
}

// Only a capable terminal is drawn on, and NO_COLOR counts if it is not empty.
TEST(screen, is_what_the_environment_says) {
  EXPECT_TRUE(screen_for(true, "xterm", nullptr).in_place);
  EXPECT_TRUE(screen_for(true, "xterm", nullptr).colours);
  EXPECT_TRUE(screen_for(true, "xterm", "").colours);
  EXPECT_FALSE(screen_for(true, "xterm", "1").colours);
  EXPECT_TRUE(screen_for(true, "xterm", "1").in_place);
  for (const char* term : {"dumb", "", static_cast<const char*>(nullptr)}) {
    EXPECT_FALSE(screen_for(true, term, nullptr).in_place);
    EXPECT_FALSE(screen_for(true, term, nullptr).colours);
  }
  EXPECT_FALSE(screen_for(false, "xterm", nullptr).in_place);
  EXPECT_FALSE(screen_for(false, "xterm", nullptr).colours);
}

}  // namespace
}  // namespace lockmark::cli
