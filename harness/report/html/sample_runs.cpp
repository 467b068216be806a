#include "harness/report/html/sample_runs.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/run/folder.hpp"
#include "harness/stats/hdr_encoding.hpp"

namespace lockmark::report::html {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t second = 1'000'000'000;
constexpr int half_seconds = 7200;

// Latencies from 10 us to 10 s, so that no band of the heatmap in between is empty.
stats::histogram wide(int seed) {
  stats::histogram h;
  for (int i = 0; i < 600; ++i) {
    h.record(std::llround(std::pow(10.0, 4 + i * 0.01)), 1 + (i * 7 + seed * 13) % 90);
  }
  return h;
}

std::string hour_of_latency() {
  std::string text = "#[Histogram log format version 1.3]\n";
  std::vector<std::string> encoded;
  for (int seed = 0; seed < 5; ++seed) encoded.push_back(stats::encode_base64(wide(seed)));
  for (int i = 0; i < half_seconds; ++i) {
    const std::string& one = encoded[static_cast<std::size_t>(i) % encoded.size()];
    text += fmt::format("{:.3f},0.500,10000.000,{}\n", i * 0.5, one);
    if (i % 20 == 0) text += fmt::format("Tag=service,{:.3f},0.500,10000.000,{}\n", i * 0.5, one);
  }
  return text;
}

std::string hour_of_timeline() {
  std::string text;
  for (int i = 0; i < half_seconds; ++i) {
    text += fmt::format(
        "{{\"at_s\":{},\"length_s\":0.5,\"attempts\":{},\"granted\":{},\"refused_deadline\":{},"
        "\"dropped\":{}}}\n",
        i * 0.5, 27'000 + i, 26'900 + i, 100, i % 50);
  }
  return text;
}

}  // namespace

sample_folders::sample_folders() {
  std::string pattern = (fs::temp_directory_path() / "lm_html_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch directory");
  root_ = pattern;
}

sample_folders::~sample_folders() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

fs::path sample_folders::whole(const std::string& name, const run::sample_run& s) const {
  run::run_folder folder(root_ / name, s.r.job);
  folder.begin(s.known());
  for (std::size_t i = 0; i < s.intervals.size(); ++i) folder.add(s.intervals[i], s.at_ns[i]);
  folder.finish(s.r);
  return root_ / name;
}

fs::path sample_folders::killed(const std::string& name, const run::sample_run& s) const {
  run::run_folder folder(root_ / name, s.r.job);
  folder.begin(s.known());
  for (std::size_t i = 0; i < 3; ++i) folder.add(s.intervals[i], s.at_ns[i]);
  return root_ / name;
}

fs::path sample_folders::hour_long(const std::string& name) const {
  run::sample_run s;
  s.r.window_ns = 3600 * second;
  s.r.self.closed_loop = false;
  s.r.self.offered_per_s = 55'000;
  s.r.found.grants_by_client.assign(1000, 98'765);
  for (int i = 0; i < 500; ++i) {
    s.r.marks.push_back({i * 7.2, 3.6, "pause_client", "Client 3 was paused for 3.6 s."});
  }
  s.r.found.violations.assign(100, run::sample_violation(s.r));
  const fs::path folder = whole(name, s);
  write_text(folder / "latency.hlog", hour_of_latency());
  write_text(folder / "timeline.jsonl", hour_of_timeline());
  return folder;
}

std::vector<fs::path> sample_folders::twelve() const {
  std::vector<fs::path> folders;
  for (int i = 0; i < 11; ++i) {
    run::sample_run s = i == 2 ? violated_run() : i == 5 ? faulty_run() : run::sample_run{};
    s.r.scenario = i % 2 == 0 ? "contended" : "uncontended";
    s.r.lock = fmt::format("redis/{}", i < 8 ? "set_nx_px" : "redisson_fenced");
    s.r.topology = i < 4 ? "redis" : i < 8 ? "redis-sentinel" : "redis-cluster";
    s.r.found.grants = static_cast<std::uint64_t>(1'000 + 900 * i);
    if (i == 3) s.r.verdict.bound = true;
    if (i == 4) {
      s.r.verdict.valid = false;
      s.r.verdict.reasons = {"debug build"};
    }
    folders.push_back(whole(fmt::format("run{}", i), s));
  }
  folders.push_back(killed("run11", run::sample_run{}));
  return folders;
}

run::sample_run violated_run() {
  run::sample_run s;
  s.r.found.certain_violations = 7;
  const check::violation v = run::sample_violation(s.r);
  s.r.found.violations.assign(3, v);
  s.r.found.first_holds = {
      v.key, {v.first, v.second}, {{v.second.granted_ns, v.first.release_sent_ns}}};
  return s;
}

run::sample_run faulty_run() {
  run::sample_run s;
  s.r.marks = {{1, 1, "kill_server", "The master was killed."},
               {3, 0, "pause_client", "Client 3 was paused."}};
  s.r.self.closed_loop = false;
  s.r.self.offered_per_s = 1'000;
  return s;
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace lockmark::report::html
