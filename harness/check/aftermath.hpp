// The effect of a fault on a lock: how long no client got it, and how often two held it meanwhile.
//
// Reads grants, key by key, and the times of overlaps; knows nothing about the fault except whether
// it hit a client or something that all clients depend on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

struct grant_stamp {
  std::int64_t at_ns = 0;
  std::uint32_t client = 0;
  std::uint32_t key = 0;
  // The first request for the key after the grant before, or that grant itself if one was waiting.
  std::int64_t wanted_ns = 0;
  std::int64_t released_ns = std::numeric_limits<std::int64_t>::max();  // the release was sent
};

// A key that was asked for after its last grant, and not granted again.
struct unserved_key {
  std::uint32_t key = 0;
  std::int64_t wanted_ns = 0;
};

// Notes them for a run with faults, all of them, because which a fault concerns is known only
// afterwards: 40 bytes each. Events in order of time. One thread.
class grant_log {
 public:
  grant_log(std::size_t keys, std::size_t clients) : keys_(keys), last_of_client_(clients, none) {}

  void began(const event& e);
  void ended(const event& e);
  // Or committed.
  void granted(const event& e);
  // Or died.
  void released(const event& e);

  const std::vector<grant_stamp>& grants() const { return grants_; }
  std::vector<unserved_key> unserved() const;

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  static constexpr std::int64_t never = -1;
  struct key_demand {
    std::int64_t wanted_ns = never;  // first asked for since its last grant, even if in vain
    std::uint32_t waiters = 0;
  };

  std::vector<key_demand> keys_;
  std::vector<std::size_t> last_of_client_;  // its last grant: where in grants_
  std::vector<grant_stamp> grants_;
};

struct disruption {
  std::int64_t at_ns = 0;     // stamped before the disruption: no effect is earlier
  bool on_a_client = true;    // false: on a server or the network
  std::int64_t takes_ns = 0;  // its duration; a failover: until only the new master leads
  std::optional<std::uint32_t> held_key{};  // by the client that was hit
  bool keys_of_their_own = false;           // no client asks for another's key
};

struct aftermath {
  // From the disruption to the grant that ended the time without one, whatever else went wrong
  // meanwhile; nullopt: no further grant.
  //
  // After a disruption of a client, that is the next grant of the key that it held: the others only
  // wait for that. If it held none, or nobody asks for it, the next grant of any key.
  // If each client has a key of its own, the others' keys count, as after a disruption of a server:
  // what the victim held concerns them only if the lock locks more than it was told to.
  // After one of a server, answers already on their way still arrive; so it is the end of the
  // longest time that began before `settling_ns`, or the disruption itself, was over, and before
  // the next disruption that is not one with it, and in which a key was asked for and not granted.
  // Of several keys the last to be granted again counts: a server may serve some of them.
  std::optional<std::int64_t> recovery_ns;
  // From the disruption to the first request for the key that was granted then; 0: some client
  // waited for it all the time.
  std::int64_t asked_ns = 0;
  std::uint64_t keys = 0;        // that were asked for and not granted for a time
  std::uint64_t keys_never = 0;  // of these, those not granted again
  // Certain overlaps that began between this disruption and the next.
  std::uint64_t violations = 0;
};

inline constexpr std::int64_t settling_ns = 100'000'000;

// `disruptions`, `grants` and `violations_ns` in order of time. `end_ns`: the end of the
// observation.
std::vector<aftermath> find_aftermath(const std::vector<disruption>& disruptions,
                                      const std::vector<grant_stamp>& grants,
                                      const std::vector<unserved_key>& unserved,
                                      const std::vector<std::int64_t>& violations_ns,
                                      std::int64_t end_ns);

}  // namespace lockmark::check
