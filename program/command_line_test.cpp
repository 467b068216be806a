// The command line as values, and the quoting of its texts in scripts and pages.
#include "program/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

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

  json option(const std::string& name) const {
    for (const json& o : all_["commands"].at(0)["options"]) {
      if (o["place"] == name || std::ranges::count(o["names"], name, &named) > 0) return o;
    }
    throw std::logic_error("no such option in this test");
  }
  json key(const std::string& name) const { return *std::ranges::find(all_["keys"], name, &named); }
  static std::string named(const json& what) { return what["name"]; }

  // The texts of a list, in its order.
  static std::vector<std::string> texts(const json& list, const char* member = "word") {
    std::vector<std::string> all;
    for (const json& one : list) all.push_back(one[member]);
    return all;
  }
  std::vector<std::string> vocabulary(const std::string& value) const {
    for (const json& kind : all_["vocabulary"]) {
      if (kind["value"] == value) return texts(kind["words"]);
    }
    return {};
  }

  std::string job_, form_ = "long";
  std::vector<std::string> set_;
  bool quiet_ = false;
  catalogue known_;
  CLI::App app_{"For trials.", "trial"};
  json all_;
};

// Names, values, checks and defaults match the declarations.
TEST_F(command_line_test, is_read_from_the_declarations) {
  EXPECT_EQ(all_["program"], "trial");
  EXPECT_EQ(all_["commands"].at(0)["name"], "try");
  EXPECT_EQ(option("job")["value"], "JOB");
  EXPECT_EQ(option("job")["required"], true);
  EXPECT_THAT(option("job")["names"], IsEmpty());
  EXPECT_THAT(texts(option("--form")["names"], "name"), ElementsAre("-f", "--form"));
  EXPECT_THAT(texts(option("--form")["words"]), ElementsAre("long", "short"));
  EXPECT_EQ(option("--form")["choice"], true);
  EXPECT_EQ(option("--form")["preset"], "long");
  EXPECT_EQ(option("--set")["value"], "KEY=VALUE");
  EXPECT_EQ(option("--set")["repeats"], true);
  EXPECT_EQ(option("--quiet")["value"], "");
  EXPECT_EQ(option("--help")["value"], "");
}

// Keys of a job with their listable values; options of locks instead of "options.*".
TEST_F(command_line_test, knows_the_keys_of_a_job) {
  const auto values = [this](const char* name) { return texts(key(name)["values"]); };
  EXPECT_THAT(values("load.loop"), ElementsAre("closed", "open", "poisson", "partly_open"));
  EXPECT_THAT(values("renew"), ElementsAre("true", "false"));
  EXPECT_THAT(values("hold"), IsEmpty());
  EXPECT_THAT(values("lock"), AllOf(Contains("redis/lua"), Contains("memory/lock")));
  EXPECT_THAT(values("workload"), ElementsAre("auto", "mutex", "commit"));
  EXPECT_THAT(values("options.watchdog"), ElementsAre("true", "false"));
  EXPECT_THAT(texts(all_["keys"], "name"), Not(Contains("options.*")));
}

TEST_F(command_line_test, knows_names) {
  EXPECT_THAT(vocabulary("JOB"), Contains("contended"));
  EXPECT_THAT(vocabulary("LOCK"), Contains("zookeeper/sequential"));
  EXPECT_THAT(vocabulary("TOPIC"), AllOf(Contains("hand-off"), Contains("try")));
  EXPECT_THAT(vocabulary("TOPOLOGY"), Contains("redis-sentinel"));
  EXPECT_THAT(vocabulary("SCENARIO"), AllOf(Contains("holder_paused"), Contains("all")));
  EXPECT_THAT(vocabulary("CLAIM"), Contains("3a"));
  EXPECT_THAT(vocabulary("SERVERS"), AllOf(Contains("redis-sentinel"), Contains("valkey@9.1")));
  EXPECT_THAT(vocabulary("TARGET"), AllOf(Contains("memory:"), Contains("local:mysql-galera"),
                                          Contains("local:redis@8.0")));
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
  EXPECT_EQ(sh_text("it's"), "it'\\''s");
  EXPECT_EQ(fish_text("it's\\"), "it\\'s\\\\");
  EXPECT_THAT(completion_script("zsh", all_),
              HasSubstr("'try:it'\\''s a \\[trial\\]\\: of \\\\things\\\\'"));
  EXPECT_THAT(completion_script("fish", all_),
              HasSubstr("-d 'it\\'s a [trial]: of \\\\things\\\\'"));
  EXPECT_THAT(completion_script("bash", all_), Not(HasSubstr("{{")));
}

// No text is taken for a request or an escape of roff.
TEST_F(command_line_test, is_escaped_in_the_page) {
  EXPECT_EQ(roff_text(".so \\file"), "\\&.so \\efile");
  EXPECT_EQ(roff_text("a\n.b\n'c"), "a\n\\&.b\n\\(aqc");
  EXPECT_EQ(roff_text("--set \"x\""), "\\-\\-set \\(dqx\\(dq");
  const std::string page = man_page(all_);
  EXPECT_THAT(page, AllOf(HasSubstr(".SH NAME\ntrial \\- "), HasSubstr("of \\ethings\\e"),
                          HasSubstr("\\fBlong\\fR|\\fBshort\\fR"), HasSubstr("\\fBload.loop\\fR"),
                          HasSubstr("\\fBredis/lua\\fR")));
}

}  // namespace
}  // namespace lockmark::cli
