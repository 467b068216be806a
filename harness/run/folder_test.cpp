// The life of a run folder: complete, killed half-way, refused, out of space.
#include "harness/run/folder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/run/sample_result.hpp"

namespace lockmark::run {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

class run_folder_test : public testing::Test {
 protected:
  run_folder_test() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(testing::TempDir()) / (std::string("lockmark_folder_") + info->name());
    fs::remove_all(root_);
    path_ = root_ / "runs" / "first";
  }
  ~run_folder_test() override { fs::remove_all(root_); }

  std::string read(const std::string& name) const {
    std::ifstream in(path_ / name);
    EXPECT_TRUE(in) << name;
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }
  json run_json() const { return json::parse(read("run.json")); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& f : fs::directory_iterator(path_)) names.push_back(f.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::vector<stats::hlog_interval> hlog(const std::string& name = "latency.hlog") const {
    std::ifstream in(path_ / name);
    stats::hlog_reader reader(in);
    std::vector<stats::hlog_interval> all;
    while (auto line = reader.next()) all.push_back(std::move(*line));
    return all;
  }
  std::map<std::string, stats::histogram> hlog_sums() const {
    std::map<std::string, stats::histogram> sums;
    for (const auto& line : hlog()) sums[line.tag].merge(line.values);
    return sums;
  }
  // From now on this process's writes to the file fail: no space.
  static void fill_the_disk_of(const fs::path& file) {
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    int filled = 0;
    for (const auto& fd : fs::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (fs::read_symlink(fd.path(), gone) != fs::canonical(file)) continue;
      dup2(full, std::stoi(fd.path().filename().string()));
      ++filled;
    }
    close(full);
    EXPECT_EQ(filled, 1);
  }
  template <class Act>
  static std::string error_of(Act act) {
    try {
      act();
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "no error";
  }

  void write_run(const sample_run& s) const {
    run_folder folder(path_, s.r.job);
    folder.begin(s.known());
    for (std::size_t i = 0; i < s.intervals.size(); ++i) folder.add(s.intervals[i], s.at_ns[i]);
    folder.finish(s.r);
  }

  fs::path root_, path_;
};

// A run that ends normally leaves four files and no temporary name.
TEST_F(run_folder_test, complete_run_has_whole_files) {
  const sample_run s;
  write_run(s);
  EXPECT_THAT(files(), ElementsAre("job.yaml", "latency.hlog", "run.json", "timeline.jsonl"));
  EXPECT_EQ(run_json()["run"]["complete"], true);
  EXPECT_EQ(config::parse_job(read("job.yaml"), "job.yaml"), s.r.job);
}

// The .hlog adds up to run.json: untagged lines are the granted attempts.
TEST_F(run_folder_test, hlog_adds_up_to_the_totals) {
  const sample_run s;
  write_run(s);
  const auto sums = hlog_sums();
  const json content = run_json();
  EXPECT_EQ(sums.at("").count(), content["counts"]["granted"].get<std::int64_t>());
  EXPECT_EQ(sums.at("").count(), 4769);
  for (std::size_t i = 1; i < series_names.size(); ++i) {
    const auto which = static_cast<series>(i);
    const auto found = sums.find(std::string(series_names[i]));
    if (s.r.totals[which].empty()) {
      EXPECT_EQ(found, sums.end()) << series_names[i];
    } else {
      ASSERT_NE(found, sums.end()) << series_names[i];
      EXPECT_EQ(found->second.counts()[0], s.r.totals[which].counts()[0]);
      EXPECT_EQ(found->second.count(), s.r.totals[which].count()) << series_names[i];
    }
  }
  EXPECT_EQ(sums.at("transfer").count(), 4'000);
  EXPECT_EQ(sums.at("self_reacquire").count(), 900);
  EXPECT_EQ(sums.at("hiccup").count(), 5'000);
}

// The time before the first whole second is added to it, and lines do not overlap.
TEST_F(run_folder_test, hlog_intervals_begin_with_the_window) {
  write_run(sample_run{});
  std::vector<std::int64_t> starts, lengths;
  for (const auto& line : hlog()) {
    if (!line.tag.empty()) continue;
    starts.push_back(line.start_ns / 1'000'000);
    lengths.push_back(line.length_ns / 1'000'000);
  }
  EXPECT_THAT(starts, ElementsAre(0, 1010, 2010, 3010, 4010));
  EXPECT_THAT(lengths, ElementsAre(1010, 1000, 1000, 1000, 1000));
}

// Of every 20 attempts one times out, in each interval: p90 of the grants is 18 ms.
TEST_F(run_folder_test, timeline_has_quantiles_of_all_attempts) {
  write_run(sample_run{});
  std::istringstream lines(read("timeline.jsonl"));
  std::size_t seen = 0;
  for (std::string text; std::getline(lines, text); ++seen) {
    const json line = json::parse(text);
    EXPECT_NEAR(line["response_p50_ns"].get<double>(), 10e6, 0.1e6);
    for (const char* name : {"response_p99_ns", "response_max_ns", "service_p99_ns"}) {
      EXPECT_EQ(line[name], "> 1000000000") << name;
    }
    EXPECT_TRUE(line["timer_lag_p99_ns"].is_number());
  }
  EXPECT_EQ(seen, 5U);
}

// One JSON line per interval; they add up to the attempts.
TEST_F(run_folder_test, timeline_has_a_line_per_interval) {
  const sample_run s;
  write_run(s);
  std::istringstream lines(read("timeline.jsonl"));
  std::uint64_t attempts = 0;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    attempts += json::parse(line)["attempts"].get<std::uint64_t>();
  }
  EXPECT_EQ(count, 5);
  EXPECT_EQ(attempts, s.r.attempts());
}

// Killed in mid-run: the measurements are there, readable, and marked incomplete.
TEST_F(run_folder_test, killed_run_is_readable_and_incomplete) {
  const sample_run s;
  const auto killed_in_mid_run = [&] {
    run_folder folder(path_, s.r.job);
    folder.begin(s.known());
    for (std::size_t i = 0; i < 3; ++i) folder.add(s.intervals[i], s.at_ns[i]);
    std::raise(SIGKILL);
  };
  EXPECT_EXIT(killed_in_mid_run(), testing::KilledBySignal(SIGKILL), "");
  EXPECT_THAT(files(),
              ElementsAre("job.yaml", "latency.hlog.part", "run.json", "timeline.jsonl.part"));
  EXPECT_EQ(hlog("latency.hlog.part").size(), 12U);
  const json content = run_json();
  EXPECT_EQ(content["run"]["complete"], false);
  EXPECT_EQ(content["run"]["status"], "running");
  EXPECT_EQ(content["run"]["lock"], "redis/lua");
  EXPECT_TRUE(content["verdict"]["held"].is_null());
  EXPECT_TRUE(content["verdict"]["valid"].is_null());
  EXPECT_EQ(config::parse_job(read("job.yaml"), "job.yaml"), s.r.job);
}

// An interrupted run has complete files, and says that it is not complete, and why.
TEST_F(run_folder_test, interrupted_run_says_so) {
  sample_run s;
  s.r.how = ending::interrupted;
  s.r.why = "interrupted before the measurement was complete";
  write_run(s);
  EXPECT_THAT(files(), ElementsAre("job.yaml", "latency.hlog", "run.json", "timeline.jsonl"));
  EXPECT_EQ(run_json()["run"]["complete"], false);
  EXPECT_EQ(run_json()["run"]["why"], s.r.why);
}

// A run that failed before its window leaves a folder of the same shape.
TEST_F(run_folder_test, finish_without_a_window) {
  sample_run s;
  result r = s.known();
  r.why = "no server";
  run_folder folder(path_, r.job);
  folder.finish(r);
  EXPECT_THAT(files(), ElementsAre("job.yaml", "latency.hlog", "run.json", "timeline.jsonl"));
  EXPECT_EQ(run_json()["run"]["complete"], false);
  EXPECT_TRUE(run_json()["tps"].is_null());
}

// A window shorter than an interval: its only interval is written.
TEST_F(run_folder_test, window_within_one_interval) {
  const sample_run s;
  run_folder folder(path_, s.r.job);
  folder.begin(s.known());
  folder.add(s.intervals[0], s.at_ns[0]);
  folder.finish(s.r);
  EXPECT_EQ(hlog_sums().at("").count(), 19);
}

// The last intervals of several threads may arrive out of order; lines of the file never do.
TEST_F(run_folder_test, hlog_lines_are_in_order_of_time) {
  const sample_run s;
  {
    run_folder folder(path_, s.r.job);
    folder.begin(s.known());
    folder.add(s.intervals[2], s.at_ns[2]);
    folder.add(s.intervals[1], s.at_ns[1]);
  }
  std::int64_t last_ns = 0;
  for (const auto& line : hlog("latency.hlog.part")) {
    EXPECT_GE(line.start_ns, last_ns);
    last_ns = line.start_ns;
  }
}

// A non-empty folder is someone's result.
TEST_F(run_folder_test, refuses_a_folder_that_is_not_empty) {
  write_run(sample_run{});
  EXPECT_THROW(run_folder(path_, config::default_job()), usage_error);
  EXPECT_THAT(error_of([&] { run_folder(path_, config::default_job()); }),
              HasSubstr("is not empty"));
  EXPECT_EQ(run_json()["run"]["complete"], true);
}

// An existing empty folder is as good as a new one.
TEST_F(run_folder_test, takes_an_empty_folder) {
  fs::create_directories(path_);
  run_folder folder(path_, config::default_job());
  EXPECT_THAT(files(), ElementsAre("job.yaml"));
}

// A file in place of the folder, or of a parent, is a usage error.
TEST_F(run_folder_test, refuses_a_place_that_is_no_folder) {
  fs::create_directories(root_);
  std::ofstream(root_ / "runs") << "a file";
  EXPECT_THROW(run_folder(root_ / "runs", config::default_job()), usage_error);
  EXPECT_THROW(run_folder(path_, config::default_job()), usage_error);
  EXPECT_THROW(run_folder("/proc/lockmark/run", config::default_job()), usage_error);
}

// A full disk gives one sentence, and what was written stays.
TEST_F(run_folder_test, full_disk_is_a_sentence) {
  const sample_run s;
  run_folder folder(path_, s.r.job);
  folder.begin(s.known());
  fill_the_disk_of(path_ / "timeline.jsonl.part");
  const std::string sentence = error_of([&] {
    for (std::size_t i = 0; i < s.intervals.size(); ++i) folder.add(s.intervals[i], s.at_ns[i]);
  });
  EXPECT_THAT(sentence, HasSubstr("timeline.jsonl cannot be written: No space left on device"));
  EXPECT_FALSE(hlog("latency.hlog.part").empty());
  EXPECT_EQ(run_json()["run"]["complete"], false);
}

// A file with a write error stays unfinished, even if there is space again: only run.json says how
// the run ended.
TEST_F(run_folder_test, nothing_is_called_whole_after_a_full_disk) {
  sample_run s;
  run_folder folder(path_, s.r.job);
  folder.begin(s.known());
  fill_the_disk_of(path_ / "timeline.jsonl.part");
  s.r.how = ending::failed;
  s.r.why = error_of([&] {
    for (std::size_t i = 0; i < s.intervals.size(); ++i) folder.add(s.intervals[i], s.at_ns[i]);
  });
  folder.finish(s.r);
  EXPECT_THAT(files(),
              ElementsAre("job.yaml", "latency.hlog.part", "run.json", "timeline.jsonl.part"));
  EXPECT_EQ(run_json()["run"]["complete"], false);
  EXPECT_EQ(run_json()["run"]["status"], "failed");
  EXPECT_EQ(run_json()["run"]["why"], s.r.why);
}

// The disk is full only at the end: the old run.json stays, and there is no half of a new one.
TEST_F(run_folder_test, a_run_json_without_room_is_the_old_one) {
  const sample_run s;
  run_folder folder(path_, s.r.job);
  folder.begin(s.known());
  fs::create_directory(path_ / "run.json.part");
  EXPECT_THAT(error_of([&] { folder.finish(s.r); }), HasSubstr("run.json cannot be written"));
  EXPECT_EQ(run_json()["run"]["complete"], false);
}

// The target's password, redacted in the result, is in no file.
TEST_F(run_folder_test, no_file_holds_a_password) {
  write_run(sample_run{});
  for (const std::string& name : files()) {
    EXPECT_THAT(read(name), testing::Not(HasSubstr("s3cret"))) << name;
  }
  EXPECT_THAT(read("run.json"), HasSubstr("redis://user:***@localhost:6379/0"));
}

}  // namespace
}  // namespace lockmark::run
