// The operating system's figures about the harness's machine, before and after a window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockmark::run {

struct host_sample {
  std::int64_t process_cpu_ns = 0;
  std::optional<std::uint64_t> steal_ticks;      // of all cores, in kernel ticks
  std::optional<std::uint64_t> total_ticks;      // busy and idle together
  std::optional<std::uint64_t> times_throttled;  // by the cgroup's CPU quota
  // Time in which some task of the machine was ready and waited for a core.
  std::optional<std::uint64_t> waiting_us;
};

host_sample sample_host();

// Share of the machine that the hypervisor gave to others between two samples; 0: unknown.
double steal_share(const host_sample& before, const host_sample& after);

// The total of "some" in /proc/pressure/cpu; nothing of another text, as of a kernel without it.
std::optional<std::uint64_t> waiting_us_in(std::string_view pressure);
// Share of the window in which some task waited for a core.
std::optional<double> waiting_share(const host_sample& before, const host_sample& after,
                                    std::int64_t window_ns);

// Cores that this process may use: affinity, then the cgroup's quota.
double usable_cores();

// For the run's provenance; empty: not reported by the system.
struct host_facts {
  std::string host_name, kernel, cpu_model, clock_source;
  unsigned cores = 0;
  double load_average = 0;
};
host_facts describe_host();

}  // namespace lockmark::run
