// Templates filled with data: what is known, what is not, and mistakes in templates.
#include "harness/templates/fill.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace lockmark::templates {
namespace {

const texts samples{
    {"greeting", "Dear {{name}}, {{{name}}}{{#title}}, {{title}}{{/title}}{{^title}}!{{/title}}"},
    {"formats", "{{shout name}} {{shout person.name}} {{or_title name}}"},
    {"some", "{{#some a b.c}}some{{/some a b.c}}{{^some a b.c}}none{{/some a b.c}}"},
    {"list", "{{#all}}{{^first}}, {{/first}}{{word}} of {{name}}{{/all}}"},
    {"plain_list", "{{#all}}<{{.}}>{{/all}}"},
    {"call", "{{>greeting}}"},
    {"call_unknown", "{{>nowhere}}"},
    {"unknown_format", "{{whisper name}}"},
    {"unclosed_tag", "Dear {{name"},
    {"unclosed_section", "{{#name}}Dear"},
    {"other_tags", "{{=<% %>=}}{{<% name %>}}"},
};

std::optional<std::string> shouted(const std::string& format, const json& value,
                                   const lookup& get) {
  if (format == "or_title") return value.is_null() ? get("title").get<std::string>() : "";
  if (format != "shout") return std::nullopt;
  return value.is_null() ? "?" : value.is_string() ? value.get<std::string>() + "!" : value.dump();
}

const kind page{samples, in_markup, shouted};

TEST(fill, escapes_values_unless_the_template_says_otherwise) {
  EXPECT_EQ(filled(page, "greeting", {{"name", "<A>"}}), "Dear &lt;A&gt;, <A>!");
  EXPECT_EQ(filled({samples, unchanged}, "greeting", {{"name", "<A>"}}), "Dear <A>, <A>!");
  EXPECT_EQ(filled(page, "other_tags", {{"name", "A"}}), "{{A}}");
}

// An unknown value, null, false and an empty text are no section and no text.
TEST(fill, leaves_out_what_is_unknown_or_empty) {
  EXPECT_EQ(filled(page, "greeting", json()), "Dear , !");
  for (const json& nothing : {json(), json(false), json("")}) {
    EXPECT_EQ(filled(page, "greeting", {{"name", "A"}, {"title", nothing}}), "Dear A, A!");
  }
  EXPECT_EQ(filled(page, "greeting", {{"name", 0}, {"title", 1.5}}), "Dear 0, 0, 1.5");
}

TEST(fill, repeats_a_section_for_each_of_a_list) {
  const json words = {{{"word", "a"}, {"first", true}}, {{"word", "b"}, {"first", false}}};
  EXPECT_EQ(filled(page, "list", {{"name", "A"}, {"all", words}}), "a of A, b of A");
  EXPECT_EQ(filled(page, "plain_list", {{"all", {"a", "b"}}}), "<a><b>");
  EXPECT_EQ(filled(page, "plain_list", {{"all", json::array()}}), "");
}

TEST(fill, formats_values) {
  EXPECT_EQ(filled(page, "formats", {{"title", "T"}, {"person", {{"name", 3}}}}), "? 3 T");
  EXPECT_EQ(filled(page, "formats", {{"name", "<A>"}}), "&lt;A&gt;! ? ");
}

// A revision such as 1234e56 is no number.
TEST(fill, takes_no_text_for_a_number) {
  EXPECT_EQ(filled(page, "formats", {{"name", "1234e56"}, {"person", {{"name", 1.5}}}}),
            "1234e56! 1.5 ");
  EXPECT_EQ(filled(page, "some", {{"a", "1"}}), "none");
}

// A null is unknown, and so is what lies within it; what a strict kind does not find at all is a
// mistake in the data.
TEST(fill, refuses_names_that_the_data_do_not_have_if_strict) {
  const kind strict{samples, in_markup, shouted, true};
  EXPECT_EQ(filled(strict, "formats", {{"name", "A"}, {"person", nullptr}}), "A! ? ");
  EXPECT_THROW(filled(strict, "formats", {{"name", "A"}, {"person", json::object()}}),
               json::out_of_range);
  EXPECT_THROW(filled(strict, "formats", {{"name", "A"}}), json::out_of_range);
}

TEST(fill, sees_whether_there_is_some) {
  for (const json& data : std::vector<json>{{{"a", 1}},
                                            {{"a", 0}, {"b", {{"c", 0.5}}}},
                                            {{"a", true}},
                                            {{"a", json::array({"x"})}}}) {
    EXPECT_EQ(filled(page, "some", data), "some") << data;
  }
  for (const json& data : std::vector<json>{json(),
                                            {{"a", 0}, {"b", {{"c", -1}}}},
                                            {{"a", "words"}},
                                            {{"a", false}},
                                            {{"a", json::array()}}}) {
    EXPECT_EQ(filled(page, "some", data), "none") << data;
  }
}

// Data cannot stand in for a template.
TEST(fill, calls_templates_of_the_set_only) {
  EXPECT_EQ(filled(page, "call", {{"name", "A"}, {"greeting", "<b>"}}), "Dear A, A!");
  EXPECT_THROW(filled(page, "call_unknown", {{"nowhere", "here"}}), std::out_of_range);
}

TEST(fill, throws_for_mistakes) {
  EXPECT_THROW(filled(page, "nowhere", json()), std::out_of_range);
  for (const char* name : {"unknown_format", "unclosed_tag", "unclosed_section"}) {
    EXPECT_THROW(filled(page, name, {{"name", "A"}}), std::logic_error) << name;
  }
  EXPECT_THROW(filled({samples, unchanged}, "formats", json()), std::logic_error);
}

}  // namespace
}  // namespace lockmark::templates
