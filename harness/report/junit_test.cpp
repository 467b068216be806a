// JUnit XML: the outcome for each kind of run, and that XML readers accept it (xmllint, of
// libxml2-utils).
#include "harness/report/junit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "harness/report/text.hpp"
#include "harness/run/result_json.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using outcome = test_case::outcome;

test_case case_of(const run::result& r) {
  return test_case_of({"first", run::to_json(r)});
}

// xmllint's output for the document: with an XPath expression its value, without one the errors.
std::string xmllint(const std::string& xml, const std::string& xpath = "") {
  std::string file = (std::filesystem::temp_directory_path() / "lm_junit_XXXXXX").string();
  const int fd = mkstemp(file.data());
  EXPECT_GE(fd, 0);
  close(fd);
  std::ofstream(file, std::ios::binary) << xml;
  const std::string how = xpath.empty() ? "--noout" : "--xpath '" + xpath + "'";
  FILE* pipe = popen(("xmllint --nonet " + how + " " + file + " 2>&1").c_str(), "r");
  std::string output;
  char chunk[4096];
  while (const std::size_t n = fread(chunk, 1, sizeof chunk, pipe)) output.append(chunk, n);
  const int status = pclose(pipe);
  std::filesystem::remove(file);
  EXPECT_NE(status, 127 << 8) << "install libxml2-utils: no xmllint";
  return status == 0 ? output : "xmllint: " + output;
}

// A run that held passes, with its time, its provenance and its report.
TEST(junit, a_run_that_held_passes) {
  const test_case c = case_of(run::sample_run{}.r);
  EXPECT_EQ(c.how, outcome::passed);
  EXPECT_EQ(c.scenario, "contended");
  EXPECT_EQ(c.name, "redis/lua on redis");
  EXPECT_DOUBLE_EQ(c.seconds, 6);
  EXPECT_THAT(c.properties, testing::Contains(testing::Pair("server.appendfsync", "everysec")));
  EXPECT_THAT(c.properties, testing::Contains(testing::Pair("run", "first")));
  EXPECT_THAT(c.report, HasSubstr("verdict    held"));
  const std::string xml = junit_xml({c});
  EXPECT_EQ(xmllint(xml), "");
  EXPECT_THAT(
      xml, Not(testing::AnyOf(HasSubstr("<failure"), HasSubstr("<error"), HasSubstr("<skipped"))));
}

// Only a violation is a failure; other errors of the same run do not hide it.
TEST(junit, a_violation_is_a_failure) {
  run::sample_run s;
  s.r.found.certain_violations = 7;
  s.r.verdict.valid = false;
  const test_case c = case_of(s.r);
  EXPECT_EQ(c.how, outcome::failed);
  EXPECT_EQ(c.type, "violation");
  EXPECT_THAT(c.message, HasSubstr("NOT HELD: 7 violations"));
  EXPECT_THAT(junit_xml({c}), HasSubstr("<failure message=\"NOT HELD: 7 violations"));
}

TEST(junit, a_lock_that_was_not_tested_is_skipped) {
  run::sample_run s;
  s.r.found.chances = 0;
  const test_case c = case_of(s.r);
  EXPECT_EQ(c.how, outcome::skipped);
  EXPECT_EQ(c.type, "untested");
  EXPECT_THAT(c.message, HasSubstr("not tested: no client asked for a key while another one"));
}

// INVALID figures, a lost server, a killed run: errors, each with its reason.
TEST(junit, what_cannot_be_believed_is_an_error) {
  run::sample_run invalid;
  invalid.r.verdict.valid = false;
  invalid.r.verdict.reasons = {"debug build"};
  EXPECT_EQ(case_of(invalid.r).how, outcome::error);
  EXPECT_EQ(case_of(invalid.r).type, "invalid");
  EXPECT_EQ(case_of(invalid.r).message, "INVALID: debug build");

  run::sample_run lost;
  lost.r.how = run::ending::server_lost;
  lost.r.why = "no server at redis://h answered for 5s";
  EXPECT_EQ(case_of(lost.r).how, outcome::error);
  EXPECT_EQ(case_of(lost.r).type, "server_lost");
  EXPECT_EQ(case_of(lost.r).message, "no server at redis://h answered for 5s");

  const test_case killed =
      test_case_of({"k", run::to_json_while_running(run::sample_run{}.known())});
  EXPECT_EQ(killed.how, outcome::error);
  EXPECT_EQ(killed.type, "incomplete");
}

// Interrupted: inconclusive.
TEST(junit, an_interrupted_run_is_skipped) {
  run::sample_run s;
  s.r.how = run::ending::interrupted;
  s.r.why = "interrupted before the measurement was complete";
  EXPECT_EQ(case_of(s.r).how, outcome::skipped);
  EXPECT_THAT(junit_xml({case_of(s.r)}), HasSubstr("<skipped message=\"interrupted before"));
}

// A suite per scenario with its totals; properties shared by all its cases are on the suite.
TEST(junit, counts_by_scenario) {
  run::sample_run held, failed, other;
  failed.r.found.certain_violations = 1;
  failed.r.lock = "redis/setnx";
  other.r.scenario = "uncontended";
  const std::string xml =
      junit_xml({case_of(held.r), case_of(failed.r), case_of(other.r),
                 unmeasured("uncontended", "redis/redlock on redis", "no server at h")});
  EXPECT_EQ(xmllint(xml), "");
  const auto value = [&](const std::string& xpath) {
    std::string text = xmllint(xml, "string(" + xpath + ")");
    while (text.ends_with("\n")) text.pop_back();
    return text;
  };
  EXPECT_EQ(value("/testsuites/@tests"), "4");
  EXPECT_EQ(value("/testsuites/@failures"), "1");
  EXPECT_EQ(value("/testsuites/@errors"), "1");
  EXPECT_EQ(value("/testsuites/testsuite[1]/@name"), "contended");
  EXPECT_EQ(value("/testsuites/testsuite[1]/@tests"), "2");
  EXPECT_EQ(value("/testsuites/testsuite[1]/@failures"), "1");
  EXPECT_EQ(value("/testsuites/testsuite[1]/@timestamp"), "2026-01-31T09:05:07");
  EXPECT_EQ(value("/testsuites/testsuite[2]/testcase[2]/error/@message"), "no server at h");
  EXPECT_EQ(value("/testsuites/testsuite[1]/properties/property[@name=\"seed\"]/@value"), "1");
  EXPECT_EQ(value("count(/testsuites/testsuite[1]/testcase/properties)"), "0");
}

// Names with markup in them, control characters, invalid UTF-8: the XML stays well-formed and keeps
// what it can.
TEST(junit, is_well_formed_whatever_it_holds) {
  const std::string hostile =
      "\"><![CDATA[x]]>&'</testsuites>\x01\x02\x1b[2J\x7f \xc2\x85 \xef\xbf\xbe \xed\xa0\x80 "
      "\xff\xfe \xc0\x80 \xf0\x9f\x94\x92 line\nbreak";
  test_case c = unmeasured(hostile, hostile, hostile);
  c.type = c.report = c.started_utc = hostile;
  c.properties = {{hostile, hostile}};
  test_case other = c;
  other.name += "2";
  other.properties.emplace_back("own", hostile);
  const std::string xml = junit_xml({c, other});
  EXPECT_EQ(xmllint(xml), "");
  EXPECT_THAT(xmllint(xml, "string(/testsuites/testsuite/testcase[1]/system-out)"),
              AllOf(HasSubstr("\"><![CDATA[x]]>&'</testsuites>"), HasSubstr("\xf0\x9f\x94\x92")));
  // Shows that the check can fail.
  EXPECT_THAT(xmllint("<a>\x01</a>"), HasSubstr("xmllint: "));
}

// Character by character: XML 1.0 characters stay, all others are replaced.
TEST(xml, escapes_and_replaces) {
  EXPECT_EQ(xml_text("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&apos;");
  EXPECT_EQ(xml_text("tab\tline\n"), "tab\tline\n");
  EXPECT_EQ(xml_text(std::string("\0", 1)), "\xef\xbf\xbd");
  EXPECT_EQ(xml_text("\xe9t\xe9"), "\xef\xbf\xbdt\xef\xbf\xbd");
  EXPECT_EQ(xml_text("\xe9\x94\x81"), "\xe9\x94\x81");
  EXPECT_EQ(xml_text("\xe9\x94"), "\xef\xbf\xbd");
  EXPECT_THAT(xml_text("\xf4\x90\x80\x80"), testing::MatchesRegex("(\xef\xbf\xbd)+"));
  EXPECT_EQ(xml_text("\xef\xbf\xbe\xef\xbf\xbf"), "\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace lockmark::report
