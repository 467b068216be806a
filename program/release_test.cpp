// ./release, on a repository of its own: a dry run says each step and changes nothing; the edits
// leave the files of a release. What a release checks and packages has tests of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* files[] = {"release",         "CHANGELOG.md",
                                 "CMakeLists.txt",  "deploy/shell.sh",
                                 "docs/install.md", "deploy/package/action/action.yml"};

class releasing : public testing::Test {
 protected:
  releasing() {
    for (const char* file : files) {
      fs::create_directories((clone_ / file).parent_path());
      fs::copy(file, clone_ / file);
    }
    git({"init", "--quiet"});
    git({"config", "user.name", "Tester"});
    git({"config", "user.email", "tester@example.org"});
    commit();
  }

  std::string git(std::vector<std::string> words) const {
    words.insert(words.begin(), {"git", "-C", clone_.string()});
    return output_of(words, dir_.path());
  }

  void commit() const {
    git({"add", "--all"});
    git({"commit", "--quiet", "--message", "State"});
  }

  ended release(std::vector<std::string> words) const {
    words.insert(words.begin(), {"/bin/bash", (clone_ / "release").string()});
    return program(words, dir_.path()).wait(60s);
  }

  std::string text(const char* file) const { return read_text(clone_ / file); }

  // In place of the first `what` of the file.
  void replace(const char* file, const std::string& what, const std::string& with) const {
    std::string all = text(file);
    all.replace(all.find(what), what.size(), with);
    std::ofstream(clone_ / file) << all;
  }

  scratch dir_;
  const fs::path clone_ = dir_ / "clone";
};

TEST_F(releasing, dry_says_each_step_and_changes_nothing) {
  const std::string before = git({"rev-parse", "HEAD"});
  const ended e = release({"--dry-run", "7.8.9"});
  EXPECT_EQ(e.status, 0) << e.err;
  for (const char* step :
       {"1. CHANGELOG.md: 'Unreleased' becomes '7.8.9 (20", "2. CMakeLists.txt,",
        "3. git commit: 'Release 7.8.9'", "4. ./check", "5. deploy/package/build, lintian,",
        "6. git tag v7.8.9", "git push origin HEAD v7.8.9"}) {
    EXPECT_THAT(e.out, HasSubstr(step));
  }
  EXPECT_THAT(git({"status", "--porcelain"}), IsEmpty());
  EXPECT_EQ(git({"rev-parse", "HEAD"}), before);
  EXPECT_THAT(git({"tag"}), IsEmpty());
}

TEST_F(releasing, edits_the_changelog_and_each_place_that_names_the_version) {
  const std::string changes = text("CHANGELOG.md");
  const std::string heading = "## Unreleased\n";
  const std::string below = changes.substr(changes.find(heading) + heading.size());
  ASSERT_EQ(release({"--edit", "7.8.9"}).status, 0);
  const std::string edited = text("CHANGELOG.md");
  EXPECT_THAT(edited, StartsWith("# Changes\n\n## Unreleased\n\n## 7.8.9 (20"));
  EXPECT_THAT(edited, testing::EndsWith(")\n" + below));
  EXPECT_THAT(text("CMakeLists.txt"), HasSubstr("\nproject(lockmark VERSION 7.8.9 LANGUAGES"));
  EXPECT_THAT(text("docs/install.md"),
              AllOf(HasSubstr("lockmark_7.8.9-1+deb12_amd64.deb"), Not(HasSubstr("0.1.0"))));
  EXPECT_THAT(text("deploy/package/action/action.yml"), HasSubstr("/action@v7.8.9\n"));
  EXPECT_THAT(git({"tag"}), IsEmpty());
}

// The next one begins with the section that the last one left, once something is in it.
TEST_F(releasing, again_needs_something_new) {
  ASSERT_EQ(release({"--edit", "7.8.9"}).status, 0);
  commit();
  EXPECT_THAT(release({"--dry-run", "7.8.9"}).err, HasSubstr("CHANGELOG.md has 7.8.9 already"));
  const ended nothing = release({"--dry-run", "7.9.0"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("CHANGELOG.md has nothing under Unreleased"));
  replace("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n* **New**: something.\n");
  commit();
  EXPECT_THAT(release({"--dry-run", "7.9.0"}).out, StartsWith("lockmark 7.9.0, after 7.8.9"));
}

TEST_F(releasing, is_refused_where_it_would_be_wrong) {
  const auto refusal = [&](std::vector<std::string> words) {
    const ended e = release(std::move(words));
    EXPECT_EQ(e.status, 2) << e.out;
    EXPECT_THAT(e.out, IsEmpty());
    return e.err;
  };
  EXPECT_THAT(refusal({}), HasSubstr("which version?"));
  EXPECT_THAT(refusal({"1.2"}), HasSubstr("expected a version such as 1.2.0, not '1.2'"));
  EXPECT_THAT(refusal({"--dry", "1.2.0"}), HasSubstr("unknown option '--dry'"));
  EXPECT_THAT(refusal({"--dry-run", "0.0.1"}), HasSubstr("0.0.1 is older than "));
  git({"tag", "v7.8.9"});
  EXPECT_THAT(refusal({"--dry-run", "7.8.9"}), HasSubstr("v7.8.9 is tagged already"));
  replace("CHANGELOG.md", "# Changes", "# All changes");
  EXPECT_THAT(refusal({"7.9.0"}), HasSubstr("there are uncommitted changes:  M CHANGELOG.md"));
}

}  // namespace
}  // namespace lockmark::cli
