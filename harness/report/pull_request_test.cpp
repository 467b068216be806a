// Runs as a comment on a pull request: short enough, the verdict first.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/markdown.hpp"
#include "harness/report/run_text.hpp"
#include "harness/report/sample_rows.hpp"
#include "harness/report/table.hpp"
#include "harness/run/result_json.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::report {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// All is well: the verdict, the number of each kind, and the table folded.
TEST(pull_request, good_runs_are_said_to_be_good) {
  const std::string text = runs_markdown({measured_row(), measured_row(), bound_row()});
  EXPECT_THAT(text, StartsWith("### lockmark: 3 runs, all held\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("- **2** valid\n"), HasSubstr("- **1** valid as bounds only"),
                          Not(HasSubstr("What needs a look")),
                          HasSubstr("<details><summary>The table: 3 runs</summary>\n\n| lock |"),
                          EndsWith("</details>\n")));
}

// Failures come first and unfolded, the most serious on top.
TEST(pull_request, what_needs_a_look_is_not_folded) {
  const std::string text = runs_markdown({killed_row(), measured_row(), invalid_row()});
  EXPECT_THAT(text, StartsWith("### lockmark: 1 of 3 runs NOT HELD\n"));
  const auto look = text.find("### What needs a look");
  const auto folded = text.find("<details>");
  ASSERT_LT(look, folded);
  const std::string open = text.substr(look, folded - look);
  EXPECT_LT(open.find("mysql/for_update"), open.find("redis/setnx"));
  EXPECT_THAT(open, Not(HasSubstr("| redis/lua |")));
  EXPECT_THAT(text, AllOf(HasSubstr("- **1** not held"), HasSubstr("- **1** INVALID"),
                          HasSubstr("- **1** incomplete"), HasSubstr("- **1** valid\n")));
}

// Without a verdict, the text does not claim that all held.
TEST(pull_request, an_unknown_verdict_is_not_good) {
  EXPECT_THAT(runs_markdown({killed_row(), measured_row()}),
              StartsWith("### lockmark: 2 runs, none failed\n"));
}

std::vector<row> many(std::size_t n, const row& kind) {
  std::vector<row> rows(n, kind);
  for (std::size_t i = 0; i < n; ++i) rows[i].lock = fmt::format("redis/lock_{}", i);
  return rows;
}

std::size_t lines_with(const std::string& text, std::string_view what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// 500 rows do not fit: as many as fit are shown, with the number left out.
TEST(pull_request, of_500_rows_says_how_many_it_leaves_out) {
  const std::string text = runs_markdown(many(500, measured_row()));
  EXPECT_LT(text.size(), 60'001U);
  EXPECT_GT(text.size(), 58'000U);
  const std::size_t shown = lines_with(text, "| redis/lock_");
  EXPECT_GT(shown, 200U);
  EXPECT_THAT(text, HasSubstr(fmt::format("{} of 500 rows are left out here", 500 - shown)));
  EXPECT_THAT(text, EndsWith("</details>\n"));
}

// 500 failures: their list is cut as well, but the verdict counts them all.
TEST(pull_request, of_500_failures_says_how_many_it_leaves_out) {
  const std::string text = runs_markdown(many(500, invalid_row()));
  EXPECT_LT(text.size(), 60'001U);
  EXPECT_THAT(text, StartsWith("### lockmark: 500 of 500 runs NOT HELD"));
  EXPECT_THAT(text, AllOf(HasSubstr("rows are left out here"), EndsWith("</details>\n")));
}

// Long reasons do not make it longer.
TEST(pull_request, is_short_whatever_the_reasons) {
  row r = invalid_row();
  r.reasons = {message{std::string(100'000, 'x')}};
  EXPECT_LT(runs_markdown({r, r}).size(), 60'001U);
}

// Names with markup in them stay text.
TEST(pull_request, shows_names_as_they_are) {
  row r = invalid_row();
  r.scenario = "</details>\n# big | <script>";
  const std::string text = runs_markdown({r});
  EXPECT_THAT(text, AllOf(HasSubstr("&lt;/details> # big \\| &lt;script>"),
                          Not(HasSubstr("</details>\n#")), Not(HasSubstr("<script"))));
  EXPECT_EQ(lines_with(text, "</details>"), 1U);
}

// A single run: a long provenance is left out, a longer report is cut, and both are mentioned.
TEST(pull_request, a_single_run_is_short_as_well) {
  run::sample_run s;
  s.r.server_is.emplace_back("server.long", std::string(70'000, 'y'));
  const std::string without = run_markdown({"first", run::to_json(s.r)});
  EXPECT_LT(without.size(), 60'001U);
  EXPECT_THAT(without, AllOf(HasSubstr("provenance is left out"), Not(HasSubstr("yyyy"))));
  s.r.preflight.assign(1'000, std::string(100, 'z'));
  const std::string cut = run_markdown({"first", run::to_json(s.r)});
  EXPECT_LT(cut.size(), 60'001U);
  EXPECT_THAT(cut, AllOf(StartsWith("### redis/lua"), EndsWith("left out here for its length.\n")));
}

// The content cannot end a code block, and a cut falls between characters.
TEST(markdown, blocks_and_cuts) {
  EXPECT_EQ(markdown_block("a: 1\n", "yaml"), "```yaml\na: 1\n```\n");
  EXPECT_EQ(markdown_block("```\n</details>", "yaml"), "````yaml\n```\n</details>\n````\n");
  EXPECT_EQ(markdown_text("<= 5 < 6 <b>"), "<= 5 < 6 &lt;b>");
  std::string wide;
  while (wide.size() < 70'000) wide += "\xe9\x94\x81";
  const std::string cut = markdown_cut(wide);
  EXPECT_LE(cut.size(), most_markdown_bytes);
  EXPECT_EQ(cut.find("\n\n") % 3, 0U);
  EXPECT_EQ(markdown_cut("short"), "short");
}

}  // namespace
}  // namespace lockmark::report
