// The command line as values, and the quoting of its texts in scripts and pages.
#include "program/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "program/completion.hpp"

namespace lockmark::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class command_line_test : public testing::Test {
 protected:
  command_line_test() {
    CLI::App* const sub = app_.add_subcommand("try", "it's a [trial]: of \\things\\");
    sub->add_option("job", job_, "which one")->type_name("JOB")->required();
    sub->add_option("--form,-f", form_, "how")
        ->check(CLI::IsMember({"long", "short"}))
        ->capture_default_str();
    sub->add_option("--set", set_, "more")->type_name("KEY=VALUE")->take_all();
    sub->add_flag("--quiet", quiet_, "less");
    all_ = describe(app_, known_);
  }

  const described_option& option(const std::string& name) const {
    for (const described_option& o : all_.commands.at(0).options) {
      if (o.place == name || std::find(o.names.begin(), o.names.end(), name) != o.names.end()) {
        return o;
      }
    }
    throw std::logic_error("no such option in this test");
  }
  const described_key& key(const std::string& name) const {
    return *std::find_if(all_.keys.begin(), all_.keys.end(),
                         [&](const described_key& k) { return k.name == name; });
  }

  std::string job_, form_ = "long";
  std::vector<std::string> set_;
  bool quiet_ = false;
  catalogue known_;
  CLI::App app_{"For trials.", "trial"};
  command_line all_;
};

// Names, values, checks and defaults match the declarations.
TEST_F(command_line_test, is_read_from_the_declarations) {
  EXPECT_EQ(all_.name, "trial");
  EXPECT_EQ(all_.commands.at(0).name, "try");
  EXPECT_EQ(option("job").value, "JOB");
  EXPECT_TRUE(option("job").required);
  EXPECT_THAT(option("job").names, IsEmpty());
  EXPECT_THAT(option("--form").names, ElementsAre("-f", "--form"));
  EXPECT_THAT(option("--form").allowed, ElementsAre("long", "short"));
  EXPECT_EQ(option("--form").preset, "long");
  EXPECT_EQ(option("--set").value, "KEY=VALUE");
  EXPECT_TRUE(option("--set").repeats);
  EXPECT_EQ(option("--quiet").value, "");
  EXPECT_EQ(option("--help").value, "");
}

// Keys of a job with their listable values; options of locks instead of "options.*".
TEST_F(command_line_test, knows_the_keys_of_a_job) {
  EXPECT_THAT(key("load.loop").values, ElementsAre("closed", "open", "poisson", "partly_open"));
  EXPECT_THAT(key("renew").values, ElementsAre("true", "false"));
  EXPECT_THAT(key("hold").values, IsEmpty());
  EXPECT_THAT(key("lock").values, AllOf(Contains("redis/lua"), Contains("memory/lock")));
  EXPECT_THAT(key("workload").values, ElementsAre("auto", "mutex", "commit"));
  EXPECT_THAT(key("options.watchdog").values, ElementsAre("true", "false"));
  for (const described_key& k : all_.keys) EXPECT_NE(k.name, "options.*");
}

TEST_F(command_line_test, knows_names) {
  EXPECT_THAT(all_.words.at("JOB"), Contains("contended"));
  EXPECT_THAT(all_.words.at("LOCK"), Contains("zookeeper/sequential"));
  EXPECT_THAT(all_.words.at("TOPOLOGY"), Contains("redis-sentinel"));
  EXPECT_THAT(all_.words.at("TARGET"), AllOf(Contains("memory:"), Contains("local:mysql-galera")));
}

// Only lists of single words are parsed as lists.
TEST(listed, takes_lists_of_words_only) {
  EXPECT_THAT(listed("one, two or three"), ElementsAre("one", "two", "three"));
  EXPECT_THAT(listed("true, false"), ElementsAre("true", "false"));
  EXPECT_THAT(listed("a duration such as 5ms, or exponential(5ms)"), IsEmpty());
  EXPECT_THAT(listed("one, own or uniform(KEYS)"), IsEmpty());
  EXPECT_THAT(listed("anything"), IsEmpty());
  EXPECT_THAT(listed(""), IsEmpty());
}

// No text ends the quotes or braces around it.
TEST_F(command_line_test, is_quoted_in_scripts) {
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_THAT(zsh_completion(all_), HasSubstr("'try:it'\\''s a \\[trial\\]\\: of \\\\things\\\\'"));
  EXPECT_THAT(fish_completion(all_), HasSubstr("-d 'it\\'s a [trial]: of \\\\things\\\\'"));
  EXPECT_THAT(bash_completion(all_), Not(HasSubstr("_@")));
}

// No text is taken for a request or an escape of roff.
TEST_F(command_line_test, is_escaped_in_the_page) {
  EXPECT_EQ(roff_text(".so \\file"), "\\&.so \\efile");
  EXPECT_EQ(roff_text("a\n.b\n'c"), "a\n\\&.b\n\\(aqc");
  EXPECT_EQ(roff_text("--set \"x\""), "\\-\\-set \\(dqx\\(dq");
  const std::string page = man_page(all_, known_, "1.0");
  EXPECT_THAT(page, AllOf(HasSubstr(".SH NAME\ntrial \\- "), HasSubstr("of \\ethings\\e"),
                          HasSubstr("\\fBlong\\fR|\\fBshort\\fR"), HasSubstr("\\fBload.loop\\fR"),
                          HasSubstr("\\fBredis/lua\\fR")));
}

}  // namespace
}  // namespace lockmark::cli
