// Checks this source tree against the rules. Runs in the root of the project, as every test does.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "harness/tidy/graph.hpp"
#include "harness/tidy/rules.hpp"
#include "harness/tidy/text.hpp"

namespace lockmark::tidy {
namespace {

bool is_code(const std::filesystem::path& path) {
  return path.extension() == ".cpp" || path.extension() == ".hpp";
}

// Excludes prose: tables in Markdown have long lines.
bool is_text(const std::filesystem::path& path) {
  static const std::set<std::string> extensions = {".cpp", ".hpp", ".txt", ".in", ".sh", ".yaml"};
  static const std::set<std::string> names = {"quickstart", "check", "release"};
  return extensions.contains(path.extension()) || names.contains(path.filename());
}

// Folders of the root with generated content.
bool is_made(const std::filesystem::path& folder) {
  static const std::set<std::string> made = {"./build", "./runs", "./results"};
  return made.contains(folder.string()) || folder.filename().string().starts_with(".");
}

std::vector<std::filesystem::path> source_files() {
  std::vector<std::filesystem::path> files;
  auto at = std::filesystem::recursive_directory_iterator{"."};
  for (; at != std::filesystem::recursive_directory_iterator{}; ++at) {
    if (at->is_directory() && is_made(at->path())) at.disable_recursion_pending();
    if (at->is_regular_file() && is_text(at->path())) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

constexpr std::array<client_library, 11> client_libraries{{
    {"zookeeper/", "drivers/zookeeper/"},
    {"mysql.h", "drivers/mysql/"},
    {"mysql/", "drivers/mysql/"},
    {"mariadb/", "drivers/mysql/"},
    {"ma_", "drivers/mysql/"},
    {"hiredis/", "drivers/redis/"},
    {"libpq", "drivers/postgres/"},
    {"postgresql/", "drivers/postgres/"},
    {"pg_", "drivers/postgres/"},
    {"nghttp2/", "drivers/etcd/"},
    {"google/protobuf/", "drivers/etcd/"},
}};

// Every file of the tree; each violation says what to do instead.
TEST(tree, keeps_the_rules) {
  int code_files = 0;
  for (const std::filesystem::path& file : source_files()) {
    const std::string path = file.lexically_normal().generic_string();
    const std::string text = read(file);
    std::vector<violation> found = check_text(path, text);
    if (is_code(file)) {
      ++code_files;
      std::ranges::move(check_code(path, text), std::back_inserter(found));
      std::ranges::move(check_libraries(path, text, client_libraries), std::back_inserter(found));
    }
    for (const violation& v : found) ADD_FAILURE() << text_of(v);
  }
  // A test that finds no files would pass as well.
  EXPECT_GT(code_files, 100) << "in " << std::filesystem::current_path();
}

bool is_for_tests(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.starts_with("sample_") || path.ends_with("_test.cpp") ||
         path.ends_with("_bench.cpp") || path.ends_with("_fuzz.cpp");
}

// The backend's own descriptor tells the harness all it knows of the backend.
TEST(tree, the_harness_names_no_backend) {
  const std::regex name{"\"(redis|zookeeper|mysql|postgres|exec)"};
  for (const std::filesystem::path& file : source_files()) {
    const std::string path = file.lexically_normal().generic_string();
    if (!path.starts_with("harness/") || !is_code(file) || is_for_tests(path)) continue;
    const std::string text = read(file);
    int number = 0;
    for (const std::string_view line : lines_of(text)) {
      ++number;
      if (!std::regex_search(line.begin(), line.end(), name)) continue;
      ADD_FAILURE() << path << ":" << number << ": " << line;
    }
  }
}

// Prints the structure for readers: each folder's parts, and what each uses.
TEST(tree, has_no_cycles) {
  include_graph graph;
  for (const std::filesystem::path& file : source_files()) {
    if (is_code(file)) graph.add(file.lexically_normal().generic_string(), read(file));
  }
  for (const auto& [folder, content] : graph.folders()) {
    for (const std::set<std::string>& mutual : cycles(content)) {
      ADD_FAILURE() << "in " << (folder.empty() ? "the root" : folder)
                    << " these use each other: " << fmt::format("{}", fmt::join(mutual, ", "));
    }
    if (std::ranges::count(folder, '/') > 1) continue;
    for (const auto& [part, used] : content) {
      if (part.find('.') != part.npos) continue;
      std::vector<std::string> rooms;
      std::ranges::copy_if(used, std::back_inserter(rooms), [&](const std::string& name) {
        return std::filesystem::is_directory(folder + name);
      });
      if (!rooms.empty()) fmt::print("{}{} uses {}\n", folder, part, fmt::join(rooms, ", "));
    }
  }
  EXPECT_TRUE(graph.folders().at("").at("program").contains("harness"));
}

}  // namespace
}  // namespace lockmark::tidy
