// ./quickstart, with stand-ins for what installs, builds and measures: what it says that it will
// do, and which lockmark it takes. What it really does takes minutes, see deploy/debian/try.
#include <fmt/format.h>
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
using testing::Not;

class quickstart : public testing::Test {
 protected:
  quickstart() {
    for (const char* file : {"quickstart", "CMakeLists.txt", "deploy/shell.sh"}) {
      fs::create_directories((clone_ / file).parent_path());
      fs::copy(file, clone_ / file);
    }
    stand_in(bin_ / "dpkg-query", R"([ "${@: -1}" = "$ABSENT" ] || echo -n installed)");
    stand_in(bin_ / "apt-get", R"(echo "'http://mirror/a.deb' a.deb 12300000 MD5Sum:0")");
    stand_in(bin_ / "cmake", R"(echo "$*" >>"$CALLS")");
    stand_in(clone_ / "build/release/bin/lockmark", lockmark_of("9.9.9"));
  }

  static void stand_in(const fs::path& file, const std::string& script) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/bash\n" << script << '\n';
    fs::permissions(file, fs::perms::owner_all);
  }

  // One that says this version, and where it was called.
  static std::string lockmark_of(const std::string& version) {
    return fmt::format(R"(if [ "$1" = --version ]; then echo {}; else echo "$0 $*"; fi)", version);
  }

  // That of this clone.
  std::string version() const {
    const std::string text = read_text(clone_ / "CMakeLists.txt");
    const std::string before = "project(lockmark VERSION ";
    const auto from = text.find(before) + before.size();
    return text.substr(from, text.find(' ', from) - from);
  }

  ended start(std::vector<std::string> words = {}, const std::string& absent = "") const {
    words.insert(words.begin(),
                 {"/usr/bin/env", fmt::format("PATH={}:/usr/bin:/bin", bin_.string()),
                  fmt::format("CALLS={}", calls_.string()), fmt::format("ABSENT={}", absent),
                  "/bin/bash", (clone_ / "quickstart").string()});
    return program(words, dir_.path()).wait(60s);
  }

  // The calls of CMake.
  std::string builds() const { return fs::exists(calls_) ? read_text(calls_) : ""; }

  scratch dir_;
  const fs::path clone_ = dir_ / "clone";
  const fs::path bin_ = dir_ / "bin";
  const fs::path calls_ = dir_ / "calls";
};

constexpr const char* measures = "lockmark table --quick --out runs/quickstart\n";

TEST_F(quickstart, builds_where_nothing_is_installed) {
  const ended e = start();
  EXPECT_EQ(e.status, 0) << e.err;
  EXPECT_THAT(e.out, AllOf(HasSubstr("* build lockmark, which takes two to "),
                           HasSubstr("in about 3 minutes, into runs/quickstart"),
                           Not(HasSubstr("install Debian packages")),
                           HasSubstr(fmt::format("build/release/bin/{}", measures)),
                           HasSubstr("\n  build/release/bin/lockmark try\n")));
  EXPECT_THAT(builds(), HasSubstr("--build --preset release"));
}

TEST_F(quickstart, takes_the_installed_one_of_the_same_version) {
  stand_in(bin_ / "lockmark", lockmark_of(version()));
  const ended e = start();
  EXPECT_EQ(e.status, 0) << e.err;
  const std::string path = (bin_ / "lockmark").string();
  EXPECT_THAT(e.out, AllOf(HasSubstr(fmt::format("* use {}, which has this version", path)),
                           Not(HasSubstr("* build lockmark")),
                           HasSubstr(fmt::format("{}/{}", bin_.string(), measures)),
                           HasSubstr("\n  lockmark try\n")));
  EXPECT_EQ(builds(), "");
}

TEST_F(quickstart, builds_if_told_to_or_the_installed_one_is_another) {
  stand_in(bin_ / "lockmark", lockmark_of(version()));
  EXPECT_THAT(start({"--build"}).out, HasSubstr("* build lockmark"));
  stand_in(bin_ / "lockmark", lockmark_of("9.9.9"));
  EXPECT_THAT(start().out, HasSubstr("* build lockmark"));
}

// README puts it on PATH, and a pull does not build it.
TEST_F(quickstart, builds_its_own_again) {
  stand_in(clone_ / "build/release/bin/lockmark", lockmark_of(version()));
  fs::create_symlink(clone_ / "build/release/bin/lockmark", bin_ / "lockmark");
  EXPECT_THAT(start().out, HasSubstr("* build lockmark"));
}

TEST_F(quickstart, installs_nothing_without_an_answer) {
  const ended e = start({}, "redis-server");
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.out, HasSubstr("of which 13 MB are downloaded: redis-server\n"));
  EXPECT_THAT(e.err, HasSubstr("Nothing was installed."));
  EXPECT_EQ(builds(), "");
}

TEST_F(quickstart, needs_no_compiler_beside_an_installed_one) {
  EXPECT_EQ(start({}, "g++").status, 2);
  stand_in(bin_ / "lockmark", lockmark_of(version()));
  EXPECT_EQ(start({}, "g++").status, 0);
}

}  // namespace
}  // namespace lockmark::cli
