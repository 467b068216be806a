// The progress display of real runs: in terminals (tmux) of several widths, and in a pipe.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <sstream>

#include "deploy/local/cluster.hpp"
#include "deploy/local/test_support.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> terminal_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(' ') != line.npos) lines.push_back(line);
  }
  return lines;
}

// A terminal of its own that runs one command; its output stays. It ends with the object.
class terminal {
 public:
  terminal(const scratch& dir, int columns, const std::string& command) : dir_(dir) {
    tmux({"-f", "/dev/null", "new-session", "-d", "-x", fmt::format("{}", columns), "-y", "24",
          fmt::format("cd {} && {}; cat", dir.path().string(), command)});
  }
  ~terminal() { tmux({"kill-server"}); }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  // Its contents. With colours: with escape sequences, and with the lines scrolled away.
  std::string screen(bool colours = false) const {
    std::vector<std::string> words{"capture-pane", "-p"};
    if (colours) words.insert(words.end(), {"-e", "-S", "-100"});
    return tmux(words);
  }
  void resize(int columns) const {
    tmux({"resize-window", "-x", fmt::format("{}", columns), "-y", "24"});
  }
  // Waits until its contents match.
  bool shows(const testing::Matcher<std::string>& what) const {
    return local::eventually([&] { return what.Matches(screen()); }, std::chrono::seconds{60});
  }

 private:
  std::string tmux(std::vector<std::string> words) const {
    words.insert(words.begin(), {"tmux", "-S", (dir_ / "tmux.socket").string()});
    return output_of(std::move(words), dir_.path());
  }

  const scratch& dir_;
};

class progress : public testing::Test {
 protected:
  std::string job(const std::string& duration, const std::string& more = "") const {
    return fmt::format(
        "{} run contended --on memory: --out {} --set hold=1ms --set warmup=50ms --set floor=0s "
        "--set stop.samples=0 --set stop.duration={} --set stop.at_most=60s {}",
        LOCKMARK_BINARY, (dir_ / "runs").string(), duration, more);
  }
  // Several samples at later moments of the run: each is a single line, and it fits.
  void expect_one_line(const terminal& t, std::size_t width) const {
    ASSERT_TRUE(t.shows(HasSubstr(" %"))) << t.screen();  // the warm-up shows less
    std::string last;
    for (int changes = 0; changes < 4; ++changes) {
      ASSERT_TRUE(t.shows(Not(last)));
      last = t.screen();
      const auto lines = terminal_lines(last);
      ASSERT_EQ(lines.size(), 1U) << last;
      EXPECT_LT(lines[0].size(), width) << last;
      EXPECT_THAT(lines[0], HasSubstr(" %"));
    }
  }

  scratch dir_;
};

// A terminal of usual width: one line in place with bar, time left, rate, success and latency.
TEST_F(progress, is_one_line_of_80_columns) {
  const terminal t(dir_, 80, job("60s"));
  ASSERT_TRUE(t.shows(HasSubstr("p99"))) << t.screen();
  expect_one_line(t, 80);
  EXPECT_THAT(t.screen(), AllOf(HasSubstr("contended  ["), HasSubstr(" s left  "),
                                HasSubstr("/s  "), HasSubstr("% ok")));
}

// A narrow terminal: the same line with less in it.
TEST_F(progress, is_one_line_of_40_columns) {
  const terminal t(dir_, 40, job("60s"));
  ASSERT_TRUE(t.shows(HasSubstr(" s left"))) << t.screen();
  expect_one_line(t, 40);
  EXPECT_THAT(t.screen(), HasSubstr("/s"));
}

// The window changes its width during the run: still one line, of the new width.
TEST_F(progress, survives_a_change_of_width) {
  const terminal t(dir_, 120, job("60s"));
  ASSERT_TRUE(t.shows(HasSubstr("in flight"))) << t.screen();
  expect_one_line(t, 120);
  for (const int width : {40, 20, 100}) {
    t.resize(width);
    const bool wide = width == 100;
    ASSERT_TRUE(t.shows(testing::ResultOf(
        [&](const std::string& screen) {
          const auto lines = terminal_lines(screen);
          const bool full = screen.find("in flight") != screen.npos;
          if (screen.find(" %") == screen.npos) return false;  // not redrawn yet
          return lines.size() == 1 && lines[0].size() < static_cast<std::size_t>(width) &&
                 full == wide;
        },
        true)))
        << width << ": " << t.screen();
    expect_one_line(t, static_cast<std::size_t>(width));
  }
}

// Green for progress, and at the end red for a lock that failed.
TEST_F(progress, is_coloured) {
  const terminal t(dir_, 80, job("20s"));
  ASSERT_TRUE(t.shows(HasSubstr("[#"))) << t.screen();
  EXPECT_THAT(t.screen(true), HasSubstr("\033[32m[#"));
}

TEST_F(progress, ends_with_a_coloured_verdict) {
  const terminal t(dir_, 80, job("200ms", "--set lock=faulty/lock --set options.two_holders=2"));
  ASSERT_TRUE(t.shows(HasSubstr("run folder: "))) << t.screen();
  EXPECT_THAT(t.screen(true), HasSubstr("\033[31mNOT HELD"));
  EXPECT_THAT(t.screen(), Not(HasSubstr(" left ")));  // the line is gone
}

// A server that stops answering is named in red while the run still waits for it.
TEST_F(progress, names_a_silent_server) {
  local::cluster servers = local::cluster::start("redis");
  const terminal t(
      dir_, 80,
      fmt::format("{} run contended --on {} --out runs --set floor=0s --set wait=200ms "
                  "--set command_timeout=2s --set give_up_after=60s "
                  "--set stop.duration=60s --set stop.at_most=60s",
                  LOCKMARK_BINARY, servers.target()));
  ASSERT_TRUE(t.shows(HasSubstr("% ok"))) << t.screen();
  servers.kill("redis", SIGSTOP);
  EXPECT_TRUE(t.shows(HasSubstr("no answer for "))) << t.screen();
  EXPECT_THAT(t.screen(true), HasSubstr("\033[31mno answer for "));
  servers.kill("redis", SIGCONT);
  EXPECT_TRUE(t.shows(Not(HasSubstr("no answer")))) << t.screen();
}

// NO_COLOR applies to the line and to the verdict, which a long summary scrolls away.
TEST_F(progress, has_no_colour_where_nobody_wants_it) {
  const std::string twice = fmt::format("export NO_COLOR=1; {}; {}", job("200ms"), job("20s"));
  const terminal t(dir_, 80, twice);
  ASSERT_TRUE(t.shows(AllOf(HasSubstr("run folder: "), HasSubstr("[#")))) << t.screen();
  EXPECT_THAT(t.screen(true), AllOf(HasSubstr("verdict"), Not(HasSubstr("\033[3"))));
}

// A dumb terminal gets plain lines.
TEST_F(progress, is_plain_on_a_dumb_terminal) {
  const terminal t(dir_, 100, fmt::format("TERM=dumb {}", job("60s")));
  const auto count = [](const std::string& screen) {
    const auto lines = terminal_lines(screen);
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.starts_with("contended measuring ");
    });
  };
  ASSERT_TRUE(t.shows(testing::ResultOf(count, testing::Ge(2)))) << t.screen();
  EXPECT_THAT(t.screen(true), Not(HasSubstr("\033[")));
}

// For a table: the row and the number of rows.
TEST_F(progress, of_a_table_counts_rows) {
  const terminal t(
      dir_, 120,
      fmt::format("echo 'mem: \"memory:\"' >targets.yaml; {} table --targets "
                  "targets.yaml --locks memory/lock memory/try_lock --repeats 1 --out t "
                  "--set stop.duration=20s --set stop.at_most=20s --set floor=0s",
                  LOCKMARK_BINARY));
  EXPECT_TRUE(t.shows(HasSubstr("1/4 memory/lock contended on mem"))) << t.screen();
}

// A pipe gets one plain line a second, in the warm-up as well.
TEST_F(progress, into_a_pipe_is_a_line_a_second) {
  const ended e =
      run(dir_.path(), {"run", "contended", "--on", "memory:", "--out", (dir_ / "runs").string(),
                        "--set", "hold=1ms", "--set", "floor=0s", "--set", "warmup=2500ms", "--set",
                        "stop.samples=0", "--set", "stop.duration=3s"});
  EXPECT_THAT(e.status, testing::AnyOf(0, 3)) << e.err;
  EXPECT_TRUE(std::all_of(e.err.begin(), e.err.end(), [](char c) { return c == '\n' || c >= ' '; }))
      << e.err;
  const auto lines = terminal_lines(e.err);
  const auto with = [&](const char* what) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.find(what) != line.npos; });
  };
  const auto warming = with("contended warming up"), measuring = with("contended measuring");
  EXPECT_GE(warming, 2) << e.err;
  EXPECT_GE(measuring, 2) << e.err;
  EXPECT_EQ(static_cast<std::size_t>(warming + measuring), lines.size()) << e.err;
  // The warm-up lasts until the throughput is steady, so only the sum is known.
  const double took_s =
      3 + read_json(only_folder(dir_ / "runs") / "run.json")["run"]["warmup_s"].get<double>();
  EXPECT_NEAR(static_cast<double>(lines.size()), took_s, 1.2) << e.err;
}

// Quiet: no output at all if all goes well.
TEST_F(progress, is_silent_when_quiet) {
  const ended e = run(dir_.path(), {"run", "contended", "--on", "memory:", "--quiet", "--out",
                                    (dir_ / "runs").string(), "--set", "floor=0s", "--set",
                                    "stop.samples=0", "--set", "stop.duration=1500ms"});
  EXPECT_EQ(e.err, "");
  EXPECT_THAT(e.out, HasSubstr("verdict    "));
}

}  // namespace
}  // namespace lockmark::cli
