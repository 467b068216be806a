// Text enters markup only escaped; data cannot end their script.
#include "harness/report/html/markup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/html/chart.hpp"

namespace lockmark::report::html {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* hostile_text = "</td><script>alert('\"&')</script>";

TEST(markup, escapes_text) {
  EXPECT_EQ(escaped(hostile_text),
            "&lt;/td&gt;&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;");
  EXPECT_EQ(escaped("redis/lua"), "redis/lua");
}

TEST(markup, tables_escape_what_is_not_markup) {
  table t({{hostile_text}, {"n", column::number}, {"link", column::markup}});
  t.add({hostile_text, hostile_text, "<a href=\"#r0\">x</a>"});
  const std::string html = t.html();
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, AllOf(HasSubstr("<a href=\"#r0\">x</a>"), HasSubstr("<td class=n>&lt;"),
                          HasSubstr("<th scope=col class=n>n</th>")));
}

TEST(markup, other_pieces_escape_as_well) {
  for (const std::string& html :
       {section(hostile_text, "x"), subsection(hostile_text, "x"), folded(hostile_text, "x"),
        paragraph(hostile_text), list({hostile_text})}) {
    EXPECT_THAT(html, AllOf(HasSubstr("&lt;script"), Not(HasSubstr("<script"))));
  }
}

TEST(markup, nothing_has_no_heading) {
  EXPECT_EQ(section("Faults", ""), "");
  EXPECT_EQ(subsection("Faults", ""), "");
  EXPECT_EQ(list({}), "");
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
  EXPECT_EQ(sheet.place({"empty", "Empty", "", json::object(), table({{"a"}, {"b"}})}), "");
  table numbers({{"a"}, {"b"}});
  numbers.add({"1", "2"});
  const std::string html = sheet.place({"one", "One", "Note.", {{"kind", "bars"}}, numbers});
  EXPECT_THAT(html, AllOf(HasSubstr("data-chart=\"one\""), HasSubstr("<td>2</td>")));
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
