// Text enters markup only escaped; data cannot end their script.
#include "harness/report/html/template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/html/charts.hpp"

namespace lockmark::report::html {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* hostile_text = "</td><script>alert('\"&')</script>";

int times(std::string_view text, std::string_view what) {
  int n = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// Whatever a value contains, and wherever it stands, it is text.
TEST(templates, escape_text) {
  const std::string html = filled(
      "bars", {{"title", hostile_text},
               {"note", hostile_text},
               {"axis", hostile_text},
               {"id", hostile_text},
               {"rows", json::array({{{"label", hostile_text}, {"value", "{{{title}}}"}}})}});
  EXPECT_THAT(html, AllOf(HasSubstr("<th scope=row>&lt;/td&gt;&lt;script&gt;alert(&apos;&quot;&amp;"
                                    "&apos;)&lt;/script&gt;</th>"),
                          HasSubstr("data-chart=\"&lt;"), HasSubstr("<td class=n>{{{title}}}"),
                          Not(HasSubstr("<script"))));
  EXPECT_THAT(filled("bars", {{"title", "redis/lua"}}), HasSubstr("<h3>redis/lua</h3>"));
}

// A run's data cannot stand in for a template, nor for a style or script.
TEST(templates, are_only_our_own) {
  const json run = {{"verdict", "<b>"}, {"about", "<b>"}, {"report_css", "<b>"}, {"row", "<b>"}};
  const std::string html = filled("page", {{"alone", run}, {"report_css", "p {}"}});
  EXPECT_THAT(html, AllOf(HasSubstr("<style>\np {}</style>"), HasSubstr("verdict &lt;b&gt;"),
                          Not(HasSubstr("<b>"))));
}

// {{{x}}} and {{&x}} take a value as it is: the page's own style, scripts and chart data, which
// safe_json made safe; never inside a part about a run, whose values may have any name.
TEST(templates, take_only_assets_as_they_are) {
  for (const auto& [name, text] : templates) {
    SCOPED_TRACE(name);
    EXPECT_THAT(text, Not(HasSubstr("{{&")));
    if (name == "page") continue;
    EXPECT_THAT(text, Not(HasSubstr("{{{")));
  }
  const std::string_view page = templates.at("page");
  for (auto at = page.find("{{{"); at != page.npos; at = page.find("{{{", at + 3)) {
    const std::string_view name = page.substr(at + 3, page.find("}}}", at) - at - 3);
    EXPECT_TRUE(assets.contains(name) || name == "chart_data") << name;
    const std::string_view before = page.substr(0, at);
    const auto opened = times(before, "{{#") + times(before, "{{^");
    EXPECT_EQ(opened, times(before, "{{/")) << name << " stands inside a section";
  }
}

TEST(templates, are_all_without_mistakes) {
  for (const auto& [name, text] : templates) EXPECT_NO_THROW(filled(std::string(name), json()));
}

TEST(templates, format_values_and_say_what_is_unknown) {
  const json run = {{"count", 7}, {"mean_ns", 5000}, {"p50_ns", "> 5000"}, {"bound", true}};
  EXPECT_EQ(filled("durations", run),
            "<td class=n>7</td><td class=n>&lt;= 5.0 us</td><td class=n>&gt; 5.0 us</td>"
            "<td class=n>-</td><td class=n>-</td><td class=n>-</td>");
  EXPECT_EQ(filled("row", {{"name", ""}, {"cells", {"1", "", "-"}}}),
            "<tr><th scope=row></th><td class=n>1</td><td class=n></td><td class=n>-</td></tr>");
  EXPECT_THAT(filled("about", {{"json", {{"run", {{"target", "x"}, {"keys", 3}}}}}}),
              AllOf(HasSubstr("on x; unknown loop"), HasSubstr("keys: 3; begun unknown")));
}

// Still the same JSON, even with invalid UTF-8.
TEST(data, cannot_end_its_script) {
  const json value = {{"name", "</script><!-- \xc3\xa9"}, {"broken", "\xff"}};
  const std::string text = safe_json(value);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("<")), HasSubstr("\\u003c/script>")));
  EXPECT_EQ(json::parse(text)["name"], value["name"]);
}

// A chart without numbers is left out.
TEST(data, of_a_chart_come_with_a_table) {
  chart_sheet sheet;
  EXPECT_TRUE(sheet.place({{"id", "empty"}, {"rows", json::array()}}, json::object()).is_null());
  const json rows = json::array({numbers_row("1", {"2"})});
  const json shown =
      sheet.place({{"id", "one"}, {"title", "One"}, {"rows", rows}}, {{"kind", "bars"}});
  EXPECT_THAT(filled("bars", shown),
              AllOf(HasSubstr("data-chart=\"one\""), HasSubstr("<details class=numbers open>")));
  EXPECT_EQ(filled("row", shown["rows"][0]), "<tr><th scope=row>1</th><td class=n>2</td></tr>");
  EXPECT_EQ(sheet.data(), R"({"one":{"kind":"bars"}})");
}

// Four digits, without those of a double's rounding error.
TEST(data, are_rounded) {
  EXPECT_EQ(rounded(123'456'789).dump(), "123500000");
  EXPECT_EQ(rounded(0.123456).dump(), "0.1235");
  EXPECT_EQ(rounded(1.1).dump(), "1.1");
  EXPECT_EQ(rounded(0).dump(), "0");
}

// A missing value, or a path through a non-object, is null.
TEST(look, finds_null_for_what_is_missing) {
  const json content = {{"a", {{"b", 5}}}};
  EXPECT_EQ(look(content, {"a", "b"}), 5);
  EXPECT_TRUE(look(content, {"a", "c"}).is_null());
  EXPECT_TRUE(look(content, {"a", "b", "c"}).is_null());
  EXPECT_EQ(shown_time(json()), "-");
  EXPECT_EQ(shown_time(json("> 5000")), "> 5.0 us");
  EXPECT_EQ(shown_time(json(5000), true), "<= 5.0 us");
  EXPECT_EQ(shown_share(json("x")), "-");
}

}  // namespace
}  // namespace lockmark::report::html
