// Emphasis: only on what deserves it, none by default, and without disturbing columns.
#include "harness/report/style.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/run_text.hpp"
#include "harness/report/sample_rows.hpp"
#include "harness/report/table.hpp"
#include "harness/run/result_json.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr style marks{"<good>", "<doubtful>", "<bad>", "<end>"};

std::string without_marks(std::string text) {
  for (const std::string mark : {"<good>", "<doubtful>", "<bad>", "<end>"}) {
    for (auto at = text.find(mark); at != text.npos; at = text.find(mark)) {
      text.erase(at, mark.size());
    }
  }
  return text;
}

std::string summary(const run::result& r, const style& look) {
  return run_summary_terminal({"first", run::to_json(r)}, 100, look);
}

TEST(style, paints_only_where_it_knows_how) {
  EXPECT_EQ(style{}.paint("x", tone::bad), "x");
  EXPECT_EQ(marks.paint("x", tone::bad), "<bad>x<end>");
  EXPECT_EQ(marks.paint("x", tone::plain), "x");
}

// The verdict: good, bad, and neither if unknown.
TEST(style, of_the_verdict) {
  run::sample_run s;
  EXPECT_THAT(summary(s.r, marks), HasSubstr("verdict    <good>held"));
  s.r.found.certain_violations = 7;
  s.r.found.violations.assign(1, run::sample_violation(s.r));
  EXPECT_THAT(summary(s.r, marks), HasSubstr("verdict    <bad>NOT HELD"));
  EXPECT_THAT(summary(s.r, marks), HasSubstr("violation  <bad>key 0"));
  s.r.verdict.valid = false;
  EXPECT_THAT(summary(s.r, marks), HasSubstr("figures    <doubtful>INVALID"));
  const auto running = run::to_json_while_running(run::sample_run{}.known());
  EXPECT_THAT(run_summary_terminal({"first", running}, 100, marks),
              HasSubstr("verdict    <doubtful>unknown"));
}

// The table: violations and invalid rows. The columns do not move.
TEST(style, of_the_table) {
  const std::string painted = table_terminal(all_kinds(), 200, language::english, marks);
  EXPECT_THAT(painted, HasSubstr("    3<end>  <doubtful>INVALID"));
  EXPECT_THAT(painted, Not(HasSubstr("0<end>")));
  std::string plain = table_terminal(all_kinds(), 200);
  std::string stripped = without_marks(painted);
  // Trailing blanks of a painted cell stay.
  for (std::string* text : {&plain, &stripped}) {
    for (auto at = text->find(" \n"); at != text->npos; at = text->find(" \n")) text->erase(at, 1);
  }
  EXPECT_EQ(stripped, plain);
}

// The default has no emphasis.
TEST(style, is_not_the_default) {
  EXPECT_EQ(summary(run::sample_run{}.r, style{}),
            without_marks(summary(run::sample_run{}.r, marks)));
}

}  // namespace
}  // namespace lockmark::report
