// The effect of a fault on a lock: how long no client got it, and how often two held it meanwhile.
//
// Reads the times of grants and of overlaps; knows nothing about the fault except whether it hit a
// client or something that all clients depend on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lockmark::check {

struct disruption {
  std::int64_t at_ns = 0;     // stamped before the disruption: no effect is earlier
  bool on_a_client = true;    // false: on a server or the network
  std::int64_t takes_ns = 0;  // its duration; a failover: until only the new master leads
};

struct aftermath {
  // From the disruption to the grant that ended the time without one; nullopt: no further grant.
  //
  // After a disruption of a client, that is the next grant: the others only wait for what it held.
  // After one of a server, answers already on their way still arrive; so it is the end of the
  // longest grant-free time that began before `settling_ns`, or the disruption itself, was over.
  std::optional<std::int64_t> recovery_ns;
  // Certain overlaps that began between this disruption and the next.
  std::uint64_t violations = 0;
};

inline constexpr std::int64_t settling_ns = 100'000'000;

// `disruptions`, `grants_ns` and `violations_ns` in order of time. `end_ns`: the end of the
// observation.
std::vector<aftermath> find_aftermath(const std::vector<disruption>& disruptions,
                                      const std::vector<std::int64_t>& grants_ns,
                                      const std::vector<std::int64_t>& violations_ns,
                                      std::int64_t end_ns);

}  // namespace lockmark::check
