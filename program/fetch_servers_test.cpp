// deploy/servers, with an apt that hands out packages of the test: what it leaves, and what it says
// when it cannot. ./check --versions fetches real ones.
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
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* apt = R"(#!/bin/bash
set -eu
stub=$(dirname "$0")
echo "$*" >>"$stub/calls"
case "$*" in
  *indextargets*) echo http://mirror.example/debian ;;
  *update*) cp "$APT_CONFIG" "$(dirname "$APT_CONFIG")/sources.list" "$stub" ;;
  *install*)
    for word in "$@"; do
      case "$word" in Dir::Cache::archives=*) cp "$stub"/*.deb "${word#*=}" ;; esac
    done
    ;;
esac
)";

// In place of the loader, which runs patchelf: what is to be changed is appended to the program.
constexpr const char* loader = R"(#!/bin/bash
set -eu
shift 2
[ -x "$1" ]
program=${*: -1}
case "$2" in
  --print-interpreter) grep -q 'a program' "$program" ;;
  --print-rpath) echo /usr/lib/private ;;
  *) echo "$*" >>"$program" ;;
esac
)";

class fetching_servers : public testing::Test {
 protected:
  fetching_servers() {
    for (const char* file : {"deploy/servers", "deploy/debian/root.sh"}) {
      fs::create_directories((project_ / file).parent_path());
      fs::copy(file, project_ / file);
    }
    write(project_ / "deploy/local/versions.mustache",
          "# NAME VERSION RELEASE PACKAGE...\n"
          "hamster 2.0 newer hamster-server hamster-tools\n"
          "hamster 3.1 newest hamster-server\n");
    write(bin_ / "apt-get", apt);
    pack("2.0.7-1");
  }

  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms(0755));
  }

  // The only package of all releases.
  void pack(const std::string& version) const {
    const fs::path tree = dir_ / "tree";
    write(tree / "DEBIAN/control",
          fmt::format("Package: hamster-server\nVersion: {}\nArchitecture: all\n"
                      "Maintainer: Tester <tester@example.org>\nDescription: a test\n",
                      version));
    write(tree / "usr/bin/hamsterd", "a program\n");
    write(tree / "usr/bin/hamster-script", "a script\n");
    fs::permissions(tree / "usr/bin/hamsterd", fs::perms(04755));
    write(tree / "usr/bin/patchelf", "");
    write(tree / "usr/lib/here/libc.so.6", "");
    write(tree / "usr/lib/here/ld-linux-test.so.2", loader);
    fs::remove(bin_ / "hamster-server_1.deb");
    output_of({"dpkg-deb", "--build", tree.string(), (bin_ / "hamster-server_1.deb").string()},
              dir_.path());
  }

  ended fetch(const fs::path& project, std::vector<std::string> words) const {
    const std::vector<std::string> start{
        "/usr/bin/env", fmt::format("PATH={}:/usr/sbin:/usr/bin:/sbin:/bin", bin_.string()),
        "/bin/bash", (project / "deploy/servers").string()};
    words.insert(words.begin(), start.begin(), start.end());
    return program(words, dir_.path()).wait(60s);
  }
  ended fetch(std::vector<std::string> words) const { return fetch(project_, std::move(words)); }

  scratch dir_;
  const fs::path bin_ = dir_ / "bin";
  const fs::path project_ = dir_ / "project";
  const fs::path servers_ = project_ / "build/servers";
};

// Programs take the loader and the libraries that came with them, and give nobody rights.
TEST_F(fetching_servers, unpacks_them_into_a_folder_of_their_own) {
  const ended e = fetch({"hamster@2.0"});
  ASSERT_EQ(e.status, 0) << e.err;
  EXPECT_THAT(e.out, EndsWith("== hamster@2.0: 2.0.7-1\n"));
  const fs::path root = servers_ / "hamster@2.0";
  const std::string libraries = (root / "usr/lib/here").string();
  EXPECT_EQ(read_text(root / "usr/bin/hamsterd"),
            fmt::format("a program\n{0}/usr/bin/patchelf --set-interpreter "
                        "{1}/ld-linux-test.so.2 --force-rpath --set-rpath {1}:/usr/lib/private "
                        "{0}/usr/bin/hamsterd\n",
                        root.string(), libraries));
  EXPECT_EQ(read_text(root / "usr/bin/hamster-script"), "a script\n");
  EXPECT_EQ(fs::status(root / "usr/bin/hamsterd").permissions(), fs::perms(0755));
}

// It needs the packages that the list names, and what patches them, and no package of this machine
// stands for any of them.
TEST_F(fetching_servers, has_apt_take_them_from_that_release_alone) {
  ASSERT_EQ(fetch({"hamster@2.0"}).status, 0);
  EXPECT_THAT(read_text(bin_ / "calls"),
              AllOf(HasSubstr("--download-only"),
                    HasSubstr("install hamster-server hamster-tools patchelf\n")));
  EXPECT_THAT(
      read_text(bin_ / "sources.list"),
      AllOf(HasSubstr("[signed-by="), EndsWith(" http://mirror.example/debian newer main\n")));
  const std::string status = (servers_ / "apt/newer/status").string();
  EXPECT_THAT(read_text(bin_ / "apt.conf"),
              HasSubstr(fmt::format("Dir::State::status \"{}\";\n", status)));
  EXPECT_EQ(read_text(status), "");
}

TEST_F(fetching_servers, keeps_what_is_there) {
  ASSERT_EQ(fetch({"--all"}).status, 2) << "there is no 3.1";
  EXPECT_EQ(fetch({"--list"}).out,
            "hamster@2.0    newer   2.0.7-1\nhamster@3.1    newest  not fetched\n");
  fs::remove(bin_ / "calls");
  EXPECT_EQ(fetch({"hamster@2.0"}).out, "== hamster@2.0: 2.0.7-1, as fetched before\n");
  EXPECT_FALSE(fs::exists(bin_ / "calls"));

  const fs::path elsewhere = dir_ / "elsewhere";
  fs::rename(project_, elsewhere);
  EXPECT_THAT(fetch(elsewhere, {"--list"}).out, HasSubstr("hamster@2.0    newer   not fetched\n"))
      << "programs look for libraries where they were";
}

TEST_F(fetching_servers, say_what_is_wrong_in_one_sentence) {
  const auto complaint = [&](const char* word) {
    const ended e = fetch({word});
    EXPECT_EQ(e.status, 2);
    return e.err;
  };
  for (const char* unknown : {"hamster@2", "hamster", "--quick"}) {
    EXPECT_EQ(complaint(unknown),
              fmt::format("deploy/servers: there is no '{}'; known are hamster@2.0, hamster@3.1\n",
                          unknown));
  }
  EXPECT_EQ(complaint("hamster@3.1"),
            "deploy/servers: newest has hamster-server 2.0.7-1 now, not 3.1; "
            "deploy/local/versions.mustache says where versions are\n");
  pack("2.01-1");
  EXPECT_THAT(complaint("hamster@2.0"), HasSubstr("newer has hamster-server 2.01-1 now, not 2.0;"));
  EXPECT_FALSE(fs::exists(servers_ / "hamster@2.0"));
  fs::remove(bin_ / "hamster-server_1.deb");
  EXPECT_THAT(complaint("hamster@2.0"), AllOf(HasSubstr("newer does not give hamster-server"),
                                              HasSubstr("see build/logs/servers-hamster@2.0")));
  EXPECT_THAT(fetch({}).err, HasSubstr("Usage: deploy/servers NAME@VERSION..."));
}

}  // namespace
}  // namespace lockmark::cli
