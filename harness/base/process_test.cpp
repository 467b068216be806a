#include "harness/base/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace lockmark {
namespace {

namespace fs = std::filesystem;

TEST(helper, is_beside_the_program_or_where_packages_have_it) {
  const std::vector<fs::path> places = helper_places("/opt/lockmark/bin/lockmark", "lib.so");
  ASSERT_GE(places.size(), 2U);
  EXPECT_EQ(places[0], "/opt/lockmark/bin/lib.so");
  EXPECT_EQ(places[1], "/opt/lockmark/lib/lockmark/lib.so");
  for (const fs::path& place : places) EXPECT_EQ(place.filename(), "lib.so");
}

// Of this very program, which is a test's.
TEST(helper, is_found_where_it_is) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(find_helper(program.filename().string()), program);
  const std::string name = "helper_of_" + std::to_string(getpid());
  EXPECT_EQ(find_helper(name), std::nullopt);
  const fs::path place = helper_places(program, name)[1];
  fs::create_directories(place.parent_path());
  std::ofstream{place} << "x";
  EXPECT_EQ(find_helper(name), place);
  fs::remove(place);
  std::error_code in_use;
  fs::remove(place.parent_path(), in_use);
}

}  // namespace
}  // namespace lockmark
