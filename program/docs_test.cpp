// README.md and docs: each command in a block of sh is run, on real servers, with shorter loads;
// the lengths and the links hold, and the table of locks is what `lockmark list` prints.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "deploy/local/cluster.hpp"
#include "drivers/exec/readme.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

const fs::path root = LOCKMARK_SOURCE;

std::vector<std::string> pages() {
  std::vector<std::string> all{"README.md"};
  for (const auto& each : fs::directory_iterator(root / "docs")) {
    if (each.path().extension() == ".md") all.push_back("docs/" + each.path().filename().string());
  }
  std::ranges::sort(all);
  return all;
}

// All that is written in Markdown for readers of the project, and not by a build or a run.
std::vector<std::string> linked_pages() {
  std::vector<std::string> all;
  for (fs::recursive_directory_iterator each(root), end; each != end; ++each) {
    const fs::path path = each->path().lexically_relative(root);
    const bool is_made = path == "build" || path == "runs" || path == ".git";
    if (is_made) each.disable_recursion_pending();
    if (path.extension() == ".md") all.push_back(path.string());
  }
  std::ranges::sort(all);
  return all;
}

// The lines of its blocks of sh, in order.
std::vector<std::string> commands_of(const std::string& page) {
  std::vector<std::string> all;
  std::istringstream in(read_text(root / page));
  bool is_command = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      is_command = line == "```sh";
    } else if (is_command) {
      all.push_back(line);
    }
  }
  return all;
}

// What opens its blocks: "```sh", "```" and so on.
std::vector<std::string> fences_of(const std::string& page) {
  std::vector<std::string> all;
  std::istringstream in(read_text(root / page));
  bool is_open = false;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("```")) continue;
    is_open = !is_open;
    if (is_open) all.push_back(line);
  }
  return all;
}

// What a whole check, and nobody's test, does.
bool is_of_the_clone(const std::string& line) {
  return line.starts_with("./") || line.starts_with("export PATH=");
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

class documentation : public testing::TestWithParam<std::string> {
 protected:
  // The line as a user types it, but on the test's server; "# exit status 1" is expected of it.
  std::string as_script(const std::string& line, const local::cluster& redis) const {
    const std::string address = redis.target().substr(std::string{"redis://"}.size());
    std::string text = line;
    for (const char* host : {"127.0.0.1:6379", "old", "new"}) {
      text = replaced(text, fmt::format("redis://{}", host), "redis://" + address);
    }
    text = replaced(text, "../main/build/release/bin/lockmark", LOCKMARK_BINARY);
    text = replaced(text, "--hosts h1,h2,h3 --listen 10.0.0.5:0",
                    "--agents 3 --launch 'for h in 1 2 3; do lockmark agent & done; wait'");
    text = replaced(text, "--metrics :9464", "--metrics 127.0.0.1:0");
    static const std::regex expected("# exit status ([0-9])$");
    std::smatch found;
    if (!std::regex_search(text, found, expected)) return text;
    return fmt::format("status=0; {} || status=$?; [ $status -eq {} ]\n", found.prefix().str(),
                       found[1].str());
  }

  const exec::readme_program client_{"python", "my_lock.py"};
  scratch dir_;
};

TEST_P(documentation, has_commands_that_work) {
  const local::cluster redis = local::cluster::start("redis");
  const fs::path bin = dir_ / "bin";
  fs::create_directory(bin);
  fs::create_symlink(root / "program/docs_test_lockmark", bin / "lockmark");
  std::ofstream(dir_ / "targets.yaml") << "near: " << redis.target() << '\n';
  fs::copy(client_.folder() / fs::path("my_lock.py"), dir_ / "my_lock.py");
  std::string script =
      fmt::format("export PATH={}:$PATH LOCKMARK={} GITHUB_STEP_SUMMARY={}\ncd {}\n", bin.string(),
                  LOCKMARK_BINARY, (dir_ / "summary.md").string(), dir_.path().string());
  int count = 0;
  for (const std::string& line : commands_of(GetParam())) {
    if (is_of_the_clone(line)) continue;
    script += as_script(line, redis) + '\n';
    ++count;
  }
  ASSERT_TRUE(count > 0 || GetParam() == "docs/limits.md");
  std::ofstream(dir_ / "script") << script;
  const ended e = program({"/bin/bash", "-ex", (dir_ / "script").string()}, dir_.path()).wait(600s);
  EXPECT_EQ(e.status, 0) << e.out << e.err;
}

// "## Faults, by command" as GitHub names it in links: "faults-by-command".
std::vector<std::string> headings_of(const fs::path& page) {
  std::vector<std::string> all;
  std::istringstream in(read_text(page));
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('#')) continue;
    std::string name;
    for (const char c : line.substr(line.find(' ') + 1)) {
      if (c == ' ' || c == '-') name += '-';
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
    all.push_back(name);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(pages, documentation, testing::ValuesIn(pages()), [](const auto& page) {
  std::string name = fs::path(page.param).stem();
  std::ranges::replace(name, '-', '_');
  return name;
});

// A link leads to a file, and a heading of it if it names one.
void expect_links_lead_somewhere(const std::string& page) {
  const std::string text = read_text(root / page);
  static const std::regex link(R"(\]\(([^)#: ]+)(#[^)]*)?\))");
  for (std::sregex_iterator each(text.begin(), text.end(), link), end; each != end; ++each) {
    const fs::path to = (root / page).parent_path() / (*each)[1].str();
    EXPECT_TRUE(fs::exists(to)) << page << " leads to " << to;
    const std::string heading = (*each)[2].str();
    if (heading.empty()) continue;
    EXPECT_THAT(headings_of(to), testing::Contains(heading.substr(1))) << page;
  }
}

TEST(links, lead_somewhere) {
  const std::vector<std::string> all = linked_pages();
  EXPECT_THAT(all, testing::IsSupersetOf({"README.md", "harness/DESIGN.md", "docs/limits.md"}));
  for (const std::string& page : all) expect_links_lead_somewhere(page);
}

// The files of the pictures that the page shows, as paths in the project.
std::vector<std::string> pictures_of(const std::string& page) {
  std::vector<std::string> all;
  const std::string text = read_text(root / page);
  static const std::regex picture(R"(!\[[^\]]+\]\(([^)]+)\))");
  for (std::sregex_iterator each(text.begin(), text.end(), picture), end; each != end; ++each) {
    all.push_back((fs::path(page).parent_path() / (*each)[1].str()).lexically_normal());
  }
  return all;
}

// Whatever a page shows, one command makes anew; and nothing is kept that no page shows.
TEST(pictures, are_made_by_one_command_and_shown) {
  const std::string script = read_text(root / "docs/pictures/make");
  std::set<std::string> shown;
  for (const std::string& page : linked_pages()) {
    for (const std::string& picture : pictures_of(page)) {
      shown.insert(picture);
      const std::string name = fs::path(picture).filename();
      EXPECT_EQ(picture, "docs/pictures/" + name) << page;
      EXPECT_THAT(script, testing::HasSubstr(" " + name + " ")) << page;
    }
  }
  std::set<std::string> kept;
  for (const auto& each : fs::directory_iterator(root / "docs/pictures")) {
    if (each.path().extension() != ".png") continue;
    kept.insert(each.path().lexically_relative(root));
    EXPECT_LE(each.file_size(), 200'000U) << each.path();
  }
  EXPECT_EQ(shown, kept);
  EXPECT_TRUE(shown.contains("docs/pictures/report.png"));
}

// The rows of its table of locks, which are figures.
std::vector<std::string> rows_of_locks(const std::string& page) {
  std::vector<std::string> all;
  std::istringstream in(read_text(root / page));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("| `")) all.push_back(line);
  }
  return all;
}

// A command, and then what it prints. One has no command, one a table of what came out.
TEST(pages, begin_with_a_command_and_show_what_it_prints) {
  for (const std::string& page : pages()) {
    if (page == "docs/limits.md" || page == "docs/plan-capacity.md" || page == "README.md")
      continue;
    const std::vector<std::string> all = fences_of(page);
    const auto first = std::ranges::find(all, "```sh");
    ASSERT_LT(first - all.begin(), 2) << page;
    ASSERT_GT(all.end() - first, 1) << page;
    EXPECT_EQ(*(first + 1), "```") << page;
  }
}

TEST(readme, is_short) {
  std::istringstream words(read_text(root / "README.md"));
  EXPECT_LE(std::distance(std::istream_iterator<std::string>(words), {}), 1200);
}

TEST(readme, is_the_same_in_chinese) {
  EXPECT_EQ(commands_of("README.zh.md"), commands_of("README.md"));
  EXPECT_EQ(rows_of_locks("README.zh.md"), rows_of_locks("README.md"));
}

TEST(choose_a_lock, has_the_table_that_list_prints) {
  const scratch dir;
  const ended e = run(dir.path(), {"list", "--format", "md"});
  EXPECT_EQ(e.status, 0) << e.err;
  EXPECT_THAT(read_text(root / "docs/choose-a-lock.md"), testing::HasSubstr(e.out));
}

}  // namespace
}  // namespace lockmark::cli
