// The committed dashboards equal the output of dashboards/build.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "deploy/local/process.hpp"
#include "program/test_program.hpp"

namespace lockmark::dashboards {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

// The dashboards of a folder that differ from the current output of `build`.
std::vector<std::string> outdated(const fs::path& folder, const cli::scratch& dir) {
  cli::output_of({"python3", "-B", "dashboards/build", (dir / "made").string()}, dir.path());
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(dir / "made")) {
    const std::string name = entry.path().filename();
    if (cli::read_text(entry.path()) != cli::read_text(folder / name)) found.push_back(name);
  }
  return found;
}

TEST(build, writes_what_is_committed) {
  const cli::scratch dir;
  EXPECT_THAT(outdated("dashboards", dir), IsEmpty())
      << "run dashboards/build and commit what it writes";
}

TEST(build, would_not_write_what_somebody_edited) {
  const cli::scratch dir;
  fs::create_directory(dir / "edited");
  for (const char* name : {"live.json", "comparison.json", "safety.json"}) {
    fs::copy_file(fs::path("dashboards") / name, dir / "edited" / name);
  }
  std::ofstream(dir / "edited" / "safety.json", std::ios::app) << "\n";
  EXPECT_THAT(outdated(dir / "edited", dir), ElementsAre("safety.json"));
}

}  // namespace
}  // namespace lockmark::dashboards
