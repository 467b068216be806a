#include "harness/run/participants/deaths.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "harness/base/process.hpp"
#include "harness/run/result.hpp"

namespace lockmark::run {

void count_absent(result& r, std::span<const death> deaths, std::size_t participants) {
  const std::int64_t end_ns = r.window_start_ns + r.window_ns;
  const auto owed_ns = static_cast<double>(r.window_ns) * static_cast<double>(participants);
  if (owed_ns <= 0) return;
  for (const death& d : deaths) {
    // Attempts are counted by its intervals, the last of which died with it.
    const std::int64_t last_ns = std::min(d.at_ns, d.measured_until_ns);
    const std::int64_t from_ns = std::clamp(last_ns, r.window_start_ns, end_ns);
    r.absent_share += static_cast<double>(end_ns - from_ns) / owed_ns;
  }
}

void mark_deaths(result& r, std::span<const death> deaths, std::size_t participants) {
  for (const death& d : deaths) {
    mark m;
    m.at_s = static_cast<double>(d.at_ns - r.window_start_ns) / 1e9;
    m.kind = "participant_died";
    m.is_of_job = false;
    m.text = fmt::format(
        "participant {} of {} {}, which the job had not asked for; the run went on without it, and "
        "without what it had measured in its last half second",
        d.participant, participants, describe_status(d.wait_status));
    r.marks.push_back(std::move(m));
  }
  std::ranges::stable_sort(r.marks, {}, &mark::at_s);
}

}  // namespace lockmark::run
