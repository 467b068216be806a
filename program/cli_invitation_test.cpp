// lockmark invitation, and what is said of files that are not its own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "program/test_program.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class invitations : public testing::Test {
 protected:
  ended make() const { return run(dir_.path(), {"invitation", "--out", (dir_ / "s").string()}); }
  // Of a coordinator that is given this file, or this option.
  std::string refusal(std::vector<std::string> more) const {
    std::vector<std::string> words{"run", "contended", "--on", "memory:"};
    words.insert(words.end(), more.begin(), more.end());
    const ended e = run(dir_.path(), words);
    EXPECT_EQ(e.status, 2);
    EXPECT_THAT(e.err, is_one_sentence());
    return e.err;
  }
  std::string refusal_of(const fs::path& file) const {
    return refusal({"--agents", "1", "--identity", file.string()});
  }

  scratch dir_;
};

TEST_F(invitations, are_two_files_for_their_owner_only) {
  const ended e = make();
  EXPECT_EQ(e.status, 0) << e.err;
  for (const char* name : {"identity", "invitation"}) {
    EXPECT_EQ(fs::status(dir_ / "s" / name).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_THAT(read_text(dir_ / "s/identity"), HasSubstr("PRIVATE KEY"));
  EXPECT_THAT(read_text(dir_ / "s/invitation"), Not(HasSubstr("PRIVATE KEY")));
  EXPECT_THAT(e.out, Not(HasSubstr("lockmark-invitation-1")));
}

TEST_F(invitations, do_not_replace_others) {
  EXPECT_EQ(make().status, 0);
  const std::string before = read_text(dir_ / "s/identity");
  const ended again = make();
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, is_one_sentence());
  EXPECT_THAT(again.err, HasSubstr("s/identity: there is one already"));
  EXPECT_EQ(read_text(dir_ / "s/identity"), before);
}

TEST_F(invitations, are_asked_for_by_files_that_are_none) {
  EXPECT_EQ(make().status, 0);
  std::ofstream(dir_ / "nonsense") << "hunter2\nhunter2\n";
  EXPECT_THAT(refusal_of(dir_ / "absent"), HasSubstr("absent: cannot be read (No such file"));
  const std::string wrong = refusal_of(dir_ / "nonsense");
  EXPECT_THAT(wrong, HasSubstr("nonsense: this is not the identity of a coordinator"));
  EXPECT_THAT(wrong, Not(HasSubstr("hunter2")));
  EXPECT_THAT(refusal_of(dir_ / "s/invitation"), HasSubstr("not the identity of a coordinator"));
  EXPECT_THAT(refusal({"--identity", (dir_ / "s/identity").string()}), HasSubstr("--agents N"));
}

}  // namespace
}  // namespace lockmark::cli
