// How long a lock should be unavailable after a fault, given the features it declares: the
// prediction that a measured recovery is compared with.
#pragma once

#include <optional>
#include <string>

#include "harness/config/job.hpp"
#include "harness/driver.hpp"
#include "harness/faults/plan.hpp"
#include "harness/features.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::faults {

struct prediction {
  duration least{};
  std::optional<duration> most;  // none: it never recovers by itself
  std::string why;               // "the lease of 2 s ran from the grant"
};

// What servers with sessions are set to; these values if they do not tell.
struct session_settings {
  duration tick = std::chrono::seconds{2};  // they look for dead sessions once in it
  // The session timeouts that they grant; others are clamped to these.
  duration least{};
  duration most = duration::max();
  duration silence =
      std::chrono::seconds{5};  // after which those of an ensemble give each other up
};
session_settings session_settings_of(const description& server);

// Nothing if theory makes no prediction (a user's command, a server whose failover has settings of
// its own). `held`: how long the victim had held its key when the fault began; none: it held
// nothing. In a partitioned ensemble the victim is the client on the minority side. `job` has all
// options of the lock, including those left at their defaults.
std::optional<prediction> predict(const fault_plan& plan, features lock, const config::job& job,
                                  std::optional<duration> held,
                                  const session_settings& servers = {});

// The tolerance of requirement R14: 200 ms early, 600 ms late, for stamps, polling and scheduling.
bool agrees(const prediction& theory, std::optional<duration> recovery);
// Nothing if it was not observed: no recovery came while the run could see it, and it need not have
// come yet. `observed`: since the fault.
std::optional<bool> agrees(const prediction& theory, std::optional<duration> recovery,
                           duration observed);

}  // namespace lockmark::faults
