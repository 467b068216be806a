#include "harness/run/host.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "harness/time/clock.hpp"

namespace lockmark::run {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value of `key` in a file of "key value" or "key : value" lines.
std::string value_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t at = line.find_first_not_of(" \t:", key.size());
    return at == std::string::npos ? "" : line.substr(at);
  }
  return "";
}

void read_steal(host_sample& into) {
  std::istringstream fields(first_line("/proc/stat"));
  std::string cpu;
  fields >> cpu;
  std::uint64_t total = 0, ticks = 0, steal = 0;
  for (int i = 0; i < 8 && fields >> ticks; ++i) {
    total += ticks;
    if (i == 7) steal = ticks;
  }
  if (cpu != "cpu") return;
  into.steal_ticks = steal;
  into.total_ticks = total;
}

}  // namespace

host_sample sample_host() {
  host_sample s;
  s.process_cpu_ns = process_cpu_ns();
  read_steal(s);
  s.waiting_us = waiting_us_in(first_line("/proc/pressure/cpu"));
  const std::string throttled = value_of("/sys/fs/cgroup/cpu.stat", "nr_throttled");
  if (!throttled.empty()) s.times_throttled = std::strtoull(throttled.c_str(), nullptr, 10);
  return s;
}

double steal_share(const host_sample& before, const host_sample& after) {
  if (!before.steal_ticks || !after.steal_ticks) return 0;
  const auto all = static_cast<double>(*after.total_ticks - *before.total_ticks);
  const auto stolen = static_cast<double>(*after.steal_ticks - *before.steal_ticks);
  return all > 0 ? stolen / all : 0;
}

std::optional<std::uint64_t> waiting_us_in(std::string_view pressure) {
  constexpr std::string_view before = " total=";
  const auto at = pressure.find(before);
  if (!pressure.starts_with("some ") || at == pressure.npos) return std::nullopt;
  const std::string_view digits = pressure.substr(at + before.size());
  std::uint64_t us = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), us);
  return error == std::errc{} ? std::optional{us} : std::nullopt;
}

std::optional<double> waiting_share(const host_sample& before, const host_sample& after,
                                    std::int64_t window_ns) {
  const bool known = before.waiting_us && after.waiting_us && window_ns > 0;
  if (!known || *after.waiting_us < *before.waiting_us) return std::nullopt;
  const auto waited_us = static_cast<double>(*after.waiting_us - *before.waiting_us);
  // The kernel brings its total up to date every two seconds, so it may be ahead or behind.
  return std::min(1.0, 1e3 * waited_us / static_cast<double>(window_ns));
}

double usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  double cores = std::thread::hardware_concurrency();
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) cores = CPU_COUNT(&allowed);
  std::istringstream quota(first_line("/sys/fs/cgroup/cpu.max"));
  double allowed_us = 0, period_us = 0;
  if (quota >> allowed_us >> period_us && period_us > 0) {
    cores = std::min(cores, allowed_us / period_us);
  }
  return std::max(cores, 0.01);
}

host_facts describe_host() {
  host_facts h;
  utsname names{};
  if (uname(&names) == 0) {
    h.host_name = names.nodename;
    h.kernel = names.release;
  }
  h.cpu_model = value_of("/proc/cpuinfo", "model name");
  h.clock_source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  h.cores = std::thread::hardware_concurrency();
  double averages[1];
  if (getloadavg(averages, 1) == 1) h.load_average = averages[0];
  return h;
}

}  // namespace lockmark::run
