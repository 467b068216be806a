#include "harness/base/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "harness/base/glob.hpp"

namespace lockmark {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class files_test : public testing::Test {
 protected:
  files_test() {
    std::string name = (fs::temp_directory_path() / "lockmark-files-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no directory");
    dir_ = name;
  }
  ~files_test() override {
    umask(umask_);
    fs::remove_all(dir_);
  }

  static std::string read(const fs::path& file) { return readable_text(file); }
  static unsigned mode_of(const fs::path& file) {
    struct stat s {};
    return lstat(file.c_str(), &s) == 0 ? s.st_mode & 07777U : 0;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& e : fs::directory_iterator(dir_)) all.push_back(e.path().filename().string());
    std::ranges::sort(all);
    return all;
  }

  fs::path dir_;
  mode_t umask_ = umask(022);
};

// Limits the size of files: simulates a full disk.
class small_disk {
 public:
  explicit small_disk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;
  ~small_disk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const file_error& e) {
    return e.what();
  }
  return "nothing was wrong";
}

TEST_F(files_test, writes_a_file_whole) {
  write_whole_file(dir_ / "a", "one\0two");
  write_whole_file(dir_ / "a", "three");
  EXPECT_EQ(read(dir_ / "a"), "three");
  EXPECT_THAT(names(), ElementsAre("a"));
}

// Any umask, and any earlier mode of the file.
TEST_F(files_test, modes_do_not_depend_on_the_umask) {
  for (const mode_t mask : {0000, 0022, 0277, 0777}) {
    umask(mask);
    const fs::path folder = dir_ / std::to_string(mask) / "b" / "c";
    create_private_folders(folder);
    write_whole_file(folder / "whole", "x");
    append_to_file(folder / "log", "x");
    part_file growing;
    growing.open(folder / "growing");
    EXPECT_EQ(mode_of(folder / "growing.part"), 0600U);
    growing.finish();
    for (const char* file : {"whole", "log", "growing"}) {
      EXPECT_EQ(mode_of(folder / file), 0600U) << file << " under umask " << mask;
    }
    EXPECT_EQ(mode_of(folder), 0700U);
    EXPECT_EQ(mode_of(folder.parent_path()), 0700U);
  }
  std::ofstream(dir_ / "open") << "x";
  fs::permissions(dir_ / "open", fs::perms(0644));
  write_whole_file(dir_ / "open", "y");
  EXPECT_EQ(mode_of(dir_ / "open"), 0600U);
}

TEST_F(files_test, folders_that_exist_stay_as_they_are) {
  fs::create_directory(dir_ / "shared");
  fs::permissions(dir_ / "shared", fs::perms(0755));
  create_private_folders(dir_ / "shared/mine/");
  EXPECT_EQ(mode_of(dir_ / "shared"), 0755U);
  EXPECT_EQ(mode_of(dir_ / "shared/mine"), 0700U);
  fs::create_directory_symlink(dir_ / "shared", dir_ / "link");
  create_private_folders(dir_ / "link/other");
  EXPECT_EQ(mode_of(dir_ / "shared/other"), 0700U);
  std::ofstream(dir_ / "file") << "x";
  EXPECT_EQ(error_of([&] { create_private_folders(dir_ / "file/x"); }),
            (dir_ / "file/x").string() + " cannot be created: File exists");
}

TEST_F(files_test, full_disk_leaves_what_was_there) {
  write_whole_file(dir_ / "a", "old");
  const std::string big(100'000, 'x');
  {
    const small_disk full(10'000);
    EXPECT_EQ(error_of([&] { write_whole_file(dir_ / "a", big); }),
              (dir_ / "a").string() + " cannot be written: File too large");
    EXPECT_THAT(error_of([&] { write_whole_file(dir_ / "b", big); }), HasSubstr("File too large"));
  }
  EXPECT_EQ(read(dir_ / "a"), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

// Short texts stay in the buffer until the file is closed.
TEST_F(files_test, what_fails_at_the_close_is_seen) {
  const small_disk full(0);
  EXPECT_THAT(error_of([&] { write_whole_file(dir_ / "a", "x"); }), HasSubstr("File too large"));
  part_file growing;
  growing.open(dir_ / "b");
  growing.out() << "x";
  EXPECT_THAT(error_of([&] { growing.finish(); }), HasSubstr("File too large"));
  EXPECT_THAT(names(), ElementsAre("b.part"));
}

TEST_F(files_test, what_never_ends_keeps_its_part) {
  part_file growing;
  growing.open(dir_ / "a");
  growing.out() << "one";
  growing.flush();
  EXPECT_EQ(read(dir_ / "a.part"), "one");
  growing.out() << ", two";
  growing.finish();
  EXPECT_EQ(read(dir_ / "a"), "one, two");
  EXPECT_THAT(names(), ElementsAre("a"));
}

// Someone else's link could point anywhere.
TEST_F(files_test, a_part_that_is_a_link_is_replaced) {
  std::ofstream(dir_ / "victim") << "precious";
  fs::create_symlink(dir_ / "victim", dir_ / "a.part");
  write_whole_file(dir_ / "a", "x");
  EXPECT_EQ(read(dir_ / "victim"), "precious");
  EXPECT_FALSE(fs::is_symlink(dir_ / "a"));
}

TEST_F(files_test, a_link_leads_to_what_is_replaced) {
  std::ofstream(dir_ / "real") << "old";
  fs::create_symlink(dir_ / "real", dir_ / "link");
  write_whole_file(dir_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(dir_ / "link"));
  EXPECT_EQ(read(dir_ / "real"), "new");
}

// A device is never replaced by a file, even for root.
TEST_F(files_test, devices_are_written_to) {
  EXPECT_NO_THROW(check_writable("/dev/null"));
  write_whole_file("/dev/null", "x");
  EXPECT_EQ(error_of([] { write_whole_file("/dev/full", "x"); }),
            "/dev/full cannot be written: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(files_test, says_in_time_that_a_file_cannot_be_written) {
  EXPECT_NO_THROW(check_writable(dir_ / "a"));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_THAT(error_of([&] { check_writable(dir_); }), HasSubstr("Is a directory"));
  EXPECT_THAT(error_of([&] { check_writable(dir_ / "no/a"); }),
              HasSubstr("No such file or directory"));
}

// Each text appears once and whole, despite concurrent appenders.
TEST_F(files_test, appends_side_by_side) {
  const std::string line = std::string(5000, 'x') + "\n";
  std::vector<std::thread> all;
  for (int n = 0; n < 4; ++n) {
    all.emplace_back([&] {
      for (int i = 0; i < 25; ++i) append_to_file(dir_ / "log", line);
    });
  }
  for (std::thread& t : all) t.join();
  std::string expected;
  for (int i = 0; i < 100; ++i) expected += line;
  EXPECT_EQ(read(dir_ / "log"), expected);
}

TEST_F(files_test, appends_nothing_to_a_full_disk) {
  append_to_file(dir_ / "log", "first\n");
  {
    const small_disk full(10);
    EXPECT_THAT(error_of([&] { append_to_file(dir_ / "log", "second\n"); }),
                HasSubstr("log cannot be written: File too large"));
  }
  EXPECT_EQ(read(dir_ / "log"), "first\n");
}

// A folder can be opened but not read, like files in /proc of a process that has just ended.
TEST_F(files_test, reads_nothing_where_reading_fails) {
  append_to_file(dir_ / "log", "one\ntwo");
  EXPECT_EQ(readable_text(dir_ / "log"), "one\ntwo");
  EXPECT_EQ(readable_text(dir_ / "missing"), "");
  EXPECT_EQ(readable_text(dir_), "");
}

TEST(glob, matches_whole_names) {
  EXPECT_TRUE(matches_glob("redis/*", "redis/lua"));
  EXPECT_TRUE(matches_glob("*lua", "redis/lua"));
  EXPECT_FALSE(matches_glob("redis/lua", "redis/lua2"));
  EXPECT_FALSE(matches_glob("", "redis/lua"));
}

TEST(glob, any_of_a_list_is_enough) {
  EXPECT_TRUE(matches_any("redis/* mysql/get_lock", "redis/lua"));
  EXPECT_TRUE(matches_any("redis/* mysql/get_lock", "mysql/get_lock"));
  EXPECT_FALSE(matches_any("redis/lua", "redis/lua2"));
  EXPECT_FALSE(matches_any("", "redis/lua"));
  const std::vector<std::string> globs{"zookeeper/*", "redis/l?a"};
  EXPECT_TRUE(matches_any(globs, "redis/lua"));
  EXPECT_FALSE(matches_any(globs, "mysql/get_lock"));
}

}  // namespace
}  // namespace lockmark
