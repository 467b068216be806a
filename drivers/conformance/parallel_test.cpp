// run_tests() from outside: this program runs itself again, as a program with a few cases.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "drivers/conformance/conformance.hpp"

namespace lockmark::conformance {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int cases = 7;

// A case of the inner program: it passes unless told to fail.
class sample final : public testing::Test {
 public:
  explicit sample(int n) : number_(n) {}

  void TestBody() override {
    const std::string what = std::getenv("SAMPLE");
    if (what == fmt::format("fail {}", number_)) ADD_FAILURE() << "as it was told";
    if (what == fmt::format("die {}", number_)) std::abort();
  }

 private:
  const int number_;
};

void add_samples() {
  GTEST_FLAG_SET(filter, "sample.*");
  for (int n = 0; n < cases; ++n) {
    testing::RegisterTest("sample", fmt::format("case{}", n).c_str(), nullptr, nullptr, __FILE__,
                          __LINE__, [n]() -> testing::Test* { return new sample(n); });
  }
}

class parallel : public testing::Test {
 protected:
  parallel() {
    std::string name = (std::filesystem::temp_directory_path() / "parallel_testXXXXXX").string();
    results = mkdtemp(name.data());
  }
  ~parallel() override { std::filesystem::remove_all(results); }

  // Runs the samples; records the output and the exit status.
  void run(const std::string& what, const std::string& argument = "") {
    const auto me = std::filesystem::read_symlink("/proc/self/exe").string();
    const auto line = fmt::format("SAMPLE='{}' GTEST_BRIEF=0 GTEST_OUTPUT=xml:{}/ '{}' {} 2>&1",
                                  what, results.string(), me, argument);
    FILE* const other = popen(line.c_str(), "r");
    std::array<char, 256> room{};
    while (fgets(room.data(), room.size(), other) != nullptr) output += room.data();
    status = pclose(other);
  }

  // The number of times `text` occurs in all result files together.
  int times_in_results(const std::string& text) const {
    int times = 0;
    for (const auto& file : std::filesystem::directory_iterator{results}) {
      std::ifstream in{file.path()};
      const std::string all{std::istreambuf_iterator<char>{in}, {}};
      for (auto at = all.find(text); at != all.npos; at = all.find(text, at + 1)) ++times;
    }
    return times;
  }

  std::filesystem::path results;
  std::string output;
  int status = -1;
};

// Every case is in the results once, and the output names the process that ran it.
TEST_F(parallel, runs_every_case_once) {
  run("pass");
  EXPECT_EQ(status, 0) << output;
  for (int n = 0; n < cases; ++n) {
    EXPECT_EQ(times_in_results(fmt::format("<testcase name=\"case{}\"", n)), 1) << n;
  }
  EXPECT_EQ(times_in_results("<testcase "), cases);
  EXPECT_THAT(output, HasSubstr("0| [       OK ] sample.case0"));
  EXPECT_THAT(output, HasSubstr("1| [       OK ] sample.case1"));
  EXPECT_TRUE(std::filesystem::exists(results / "parallel_test-2.xml"));
}

// One failure fails the program, but the others still run.
TEST_F(parallel, fails_if_one_case_does) {
  run("fail 4");
  EXPECT_NE(status, 0);
  EXPECT_EQ(times_in_results("<testcase "), cases);
  EXPECT_EQ(times_in_results("as it was told"), 2);  // as an attribute and as text
  EXPECT_THAT(output, HasSubstr("1| exit status 1"));
}

// A process that dies fails the program; it leaves no result file, as any program would.
TEST_F(parallel, fails_if_one_process_dies) {
  run("die 5");
  EXPECT_NE(status, 0);
  EXPECT_THAT(output, HasSubstr("2| killed by signal 6"));
  EXPECT_FALSE(std::filesystem::exists(results / "parallel_test-2.xml"));
}

// With arguments there is one process and plain output.
TEST_F(parallel, runs_in_one_process_for_somebody_who_looks) {
  run("pass", "--gtest_color=no");
  EXPECT_EQ(status, 0);
  EXPECT_THAT(output, Not(HasSubstr("0| ")));
  EXPECT_TRUE(std::filesystem::exists(results / "parallel_test.xml"));
  EXPECT_EQ(times_in_results("<testcase "), cases);
}

}  // namespace
}  // namespace lockmark::conformance

int main(int argc, char** argv) {
  if (std::getenv("SAMPLE") != nullptr) {
    return lockmark::conformance::run_tests(argc, argv, lockmark::conformance::add_samples);
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
