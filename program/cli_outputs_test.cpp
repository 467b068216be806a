// Output of runs for other programs: JUnit XML for CI, Markdown for a pull request, CSV of a
// timeline, a history for Jepsen's checkers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class outputs : public testing::Test {
 protected:
  // A shortened job, in memory.
  ended run(std::vector<std::string> arguments, std::vector<std::string> settings = {}) const {
    for (const char* s :
         {"stop.duration=300ms", "stop.samples=0", "stop.at_most=2s", "warmup=50ms", "floor=0s"}) {
      settings.insert(settings.begin(), s);
    }
    for (const std::string& s : settings) {
      arguments.push_back("--set");
      arguments.push_back(s);
    }
    return cli::run(dir_.path(), std::move(arguments));
  }
  std::string out() const { return (dir_ / "runs").string(); }
  std::string file(std::string_view name) const { return (dir_ / name).string(); }
  // A value of the document; the test fails if it is not XML.
  std::string xml(const std::string& document, const std::string& xpath) const {
    std::string value = output_of(
        {"xmllint", "--nonet", "--xpath", fmt::format("string({})", xpath), document}, dir_.path());
    while (value.ends_with("\n")) value.pop_back();
    return value;
  }

  scratch dir_;
};

// A lock that fails is a failure in the file that CI reads; one that passes is not.
TEST_F(outputs, junit_of_a_run) {
  const std::string junit = file("junit.xml");
  const ended bad = run({"run", "contended", "--on", "memory:", "--out", out(), "--junit", junit},
                        {"lock=faulty/lock", "options.two_holders=50", "hold=1ms"});
  EXPECT_EQ(bad.status, 1) << bad.err;
  EXPECT_EQ(xml(junit, "/testsuites/@failures"), "1");
  EXPECT_THAT(xml(junit, "//failure/@message"), HasSubstr("NOT HELD"));
  EXPECT_FALSE(fs::exists(junit + ".part"));

  const ended good =
      run({"run", "contended", "--on", "memory:", "--out", out(), "--junit", junit}, {"hold=1ms"});
  EXPECT_THAT(good.status, AnyOf(0, 3)) << good.err;
  EXPECT_EQ(xml(junit, "concat(/testsuites/@tests, /testsuites/@failures, /testsuites/@errors)"),
            good.status == 0 ? "100" : "101");
  EXPECT_EQ(xml(junit, "/testsuites/testsuite/@name"), "contended");
  EXPECT_EQ(xml(junit, "//testcase/@name"), "memory/lock on memory");
  EXPECT_EQ(xml(junit, "//property[@name=\"target\"]/@value"), "memory:");
}

// A run that never began is an error in the file; the file is not missing.
TEST_F(outputs, junit_of_a_run_that_never_began) {
  const taken_port closed(false);
  const std::string junit = file("junit.xml");
  const std::string url = fmt::format("redis://:hunter2@127.0.0.1:{}", closed.number());
  const ended e = run({"run", "contended", "--on", url, "--out", out(), "--junit", junit});
  EXPECT_EQ(e.status, 2);
  EXPECT_EQ(xml(junit, "/testsuites/@errors"), "1");
  EXPECT_THAT(xml(junit, "//error/@message"), HasSubstr(fmt::format("{}", closed.number())));
  EXPECT_THAT(files_with(dir_.path(), "hunter2"), testing::IsEmpty());
}

// A table: one case per row, also for rows that could not be measured.
TEST_F(outputs, junit_of_a_table) {
  const taken_port closed(false);
  std::ofstream(dir_ / "targets.yaml")
      << fmt::format("mem: 'memory:'\ngone: 'redis://127.0.0.1:{}'\n", closed.number());
  const std::string junit = file("junit.xml");
  const ended e = run({"table", "--targets", file("targets.yaml"), "--locks", "memory/lock",
                       "redis/lua", "--quiet", "--out", out(), "--junit", junit});
  EXPECT_EQ(e.status, 2) << e.err;
  EXPECT_EQ(xml(junit, "/testsuites/@tests"), "4");
  EXPECT_EQ(xml(junit, "count(//testsuite)"), "2");
  EXPECT_EQ(xml(junit, "count(//testcase[contains(@name, \"redis/lua\")]/error)"), "2");
  EXPECT_EQ(xml(junit, "count(//testcase[@name=\"memory/lock on mem\"])"), "2");
}

// A table that never began is an error in the file as well.
// Buffered, the table would come last, or be torn where the buffer was full.
TEST_F(outputs, of_stdout_and_stderr_keep_their_order_in_one_file) {
  const std::string both = file("both");
  output_of({"bash", "-c",
             fmt::format("'{}' table --on memory: --locks memory/lock --scenarios one_client "
                         "--repeats 1 --set stop.duration=100ms --set stop.samples=0 "
                         "--set warmup=0s --set floor=0s --out '{}' >'{}' 2>&1 || [ $? -eq 3 ]",
                         lockmark({}).front(), out(), both)},
            dir_.path());
  EXPECT_THAT(read_text(both), EndsWith(fmt::format("\ntable and run folders: {}\n", out())));
}

TEST_F(outputs, junit_of_a_table_that_never_began) {
  const std::string junit = file("junit.xml");
  const ended e = run({"table", "--targets", file("none.yaml"), "--out", out(), "--junit", junit});
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(xml(junit, "//error/@message"), HasSubstr("none.yaml"));
}

// A file that cannot be written is reported before the run, not after it.
TEST_F(outputs, junit_that_cannot_be_written_is_found_out_at_once) {
  const ended e = run({"run", "contended", "--on", "memory:", "--out", out(), "--junit",
                       file("no/such/folder.xml")});
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, AllOf(is_one_sentence(), HasSubstr("--junit"), HasSubstr("folder.xml")));
  EXPECT_FALSE(fs::exists(out()));
}

// The same from stored run folders: one or several, for CI, for a pull request, and one timeline.
TEST_F(outputs, reports_of_run_folders) {
  for (const char* lock : {"memory/lock", "memory/try_lock"}) {
    const ended e = run({"run", "contended", "--on", "memory:", "--out", out()},
                        {"hold=1ms", fmt::format("lock={}", lock)});
    ASSERT_THAT(e.status, AnyOf(0, 3)) << e.err;
  }
  std::vector<std::string> folders;
  for (const auto& f : fs::directory_iterator(out())) folders.push_back(f.path().string());
  const auto report = [&](const char* format, std::size_t many, bool timeline = false) {
    std::vector<std::string> words{"report", "--format", format};
    if (timeline) words.emplace_back("--timeline");
    words.insert(words.end(), folders.begin(), folders.begin() + static_cast<std::ptrdiff_t>(many));
    return cli::run(dir_.path(), words);
  };
  std::ofstream(dir_ / "two.xml") << report("junit", 2).out;
  EXPECT_EQ(xml(file("two.xml"), "/testsuites/@tests"), "2");
  EXPECT_THAT(report("md", 1).out, AllOf(StartsWith("### memory/"), HasSubstr("<details>")));
  EXPECT_THAT(report("md", 2).out, AllOf(StartsWith("### lockmark: 2 runs"),
                                         HasSubstr("<details><summary>The table: 2 runs")));
  EXPECT_THAT(report("csv", 1, true).out, StartsWith("at_s,length_s,attempts,granted,"));
  const ended wrong = report("csv", 2, true);
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, AllOf(is_one_sentence(), HasSubstr("--timeline")));
}

// A history only on request, complete, with four lines for each grant.
TEST_F(outputs, history_of_a_run) {
  const ended e = run({"run", "contended", "--on", "memory:", "--out", out(), "--history"},
                      {"hold=1ms", "load.threads=2"});
  ASSERT_THAT(e.status, AnyOf(0, 3)) << e.err;
  const fs::path folder = only_folder(out());
  const std::string history = read_text(folder / "history.edn");
  EXPECT_FALSE(fs::exists(folder / "history.edn.part"));
  EXPECT_THAT(history, StartsWith("{:type :invoke, :f :acquire, :value [0 nil], :process "));
  const auto said = read_json(folder / "run.json");
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'),
            4 * said["cost_per_acquire"]["grants"].get<std::int64_t>());

  const ended without =
      run({"run", "contended", "--on", "memory:", "--out", file("others")}, {"hold=1ms"});
  ASSERT_THAT(without.status, AnyOf(0, 3)) << without.err;
  EXPECT_FALSE(fs::exists(only_folder(file("others")) / "history.edn"));
}

// Optimistic locks are neither acquired nor released.
TEST_F(outputs, history_of_an_optimistic_lock_is_refused) {
  const ended e = run({"run", "contended", "--on", "memory:", "--out", out(), "--history"},
                      {"lock=memory/optimistic"});
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, AllOf(is_one_sentence(), HasSubstr("--history"), HasSubstr("optimistic")));
}

}  // namespace
}  // namespace lockmark::cli
