// R8: HdrHistogram's own HistogramLogProcessor reads our files and finds the recorded values.
//
// It needs Debian's libhdrhistogram-java and a Java runtime; without them it fails.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/stats/hlog.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::stats {
namespace {

constexpr const char* jar = "/usr/share/java/hdrhistogram.jar";

class hlog_oracle : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(std::filesystem::exists(jar)) << "install libhdrhistogram-java: no " << jar;
    std::string pattern = (std::filesystem::temp_directory_path() / "lm_hlog_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // Runs the processor in a German locale; returns its output, and fails the test if it fails.
  std::string process(const std::string& options) const {
    const std::string command = fmt::format(
        "LC_ALL=de_DE.UTF-8 java -Xshare:auto -XX:TieredStopAtLevel=1 -Duser.language=de "
        "-Duser.country=DE -cp {} org.HdrHistogram.HistogramLogProcessor -i {} {} 2>&1",
        jar, (folder_ / "run.hlog").string(), options);
    FILE* pipe = popen(command.c_str(), "r");
    std::string output;
    char chunk[4096];
    while (std::size_t n = fread(chunk, 1, sizeof chunk, pipe)) output.append(chunk, n);
    EXPECT_EQ(pclose(pipe), 0) << output;
    return output;
  }

  std::filesystem::path folder_;
};

std::vector<std::vector<double>> csv_rows(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#' || line.front() == '"') continue;
    std::vector<double> row;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) row.push_back(std::stod(field));
    rows.push_back(row);
  }
  return rows;
}

struct recorded {
  histogram total;
  std::vector<std::int64_t> counts;
};

// `intervals` seconds of log-normal latencies; their number varies from one to the next.
recorded record_series(hlog_writer& writer, const char* tag, int intervals, random_source& rng) {
  recorded result;
  for (int second = 0; second < intervals; ++second) {
    histogram interval;
    const std::uint64_t n = 100 + rng.below(2'000);
    for (std::uint64_t i = 0; i < n; ++i) {
      interval.record(static_cast<std::int64_t>(rng.lognormal(13, 1.2)));
    }
    writer.write(tag, second * 1'000'000'000LL, 1'000'000'000, interval);
    result.total.merge(interval);
    result.counts.push_back(interval.count());
  }
  return result;
}

void expect_agreement(const std::vector<std::vector<double>>& rows, const recorded& ours) {
  ASSERT_EQ(rows.size(), ours.counts.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), 12u);
    EXPECT_DOUBLE_EQ(rows[i][0], static_cast<double>(i + 1));  // the end of each interval
    EXPECT_EQ(rows[i][1], static_cast<double>(ours.counts[i]));
  }
  const std::vector<double>& last = rows.back();
  EXPECT_EQ(last[5], static_cast<double>(ours.total.count()));
  const double quantiles[] = {0.5, 0.9, 0.99, 0.999, 0.9999};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(last[6 + i], static_cast<double>(ours.total.value_at_quantile(quantiles[i])));
  }
  EXPECT_NEAR(last[11] / static_cast<double>(ours.total.max_ns()), 1.0, 0.001);
}

// Counts are equal, times grow, quantiles are the same, for the headline and for a tagged series.
TEST_F(hlog_oracle, reads_what_we_recorded) {
  random_source rng(3);
  std::ofstream file(folder_ / "run.hlog");
  const std::vector<std::string> comments = {"lock: memory/mutex, " + std::string(300, 'x')};
  hlog_writer writer(file, 1'769'850'307'250'000'000, comments);
  const recorded headline = record_series(writer, "", 10, rng);
  const recorded service = record_series(writer, "service", 10, rng);
  file.close();
  const std::string output = (folder_ / "out").string();
  process("-csv -outputValueUnitRatio 1 -o " + output);
  expect_agreement(csv_rows(output), headline);
  process("-csv -outputValueUnitRatio 1 -tag service -o " + output);
  expect_agreement(csv_rows(output), service);
  EXPECT_NE(process("-listtags").find("service"), std::string::npos);
}

}  // namespace
}  // namespace lockmark::stats
