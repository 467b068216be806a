// What a job does to its servers, its clients and the network between them while the load is on.
//
//   faults:
//     - {do: pause, who: holder, at: 2s, for: 5s}
//     - {do: kill, who: master, at: 10s, for: 3s, data: lost, every: 20s}
//     - {do: kill, who: holder, on: "SETNX"}         # as soon as its first SETNX is answered
//     - {do: cut, who: replication, at: 1s, for: 4s}
//     - {do: stall, who: leader, with: holder, at: 1s, for: 4s}
//     - {do: cut, who: link zookeeper-1 zookeeper-2, at: 1s, for: 4s}
//     - {do: fail_over, who: master, at: 2s}
//     - {do: run, command: ssh db1 stop-redis, undo: ssh db1 start-redis, at: 5s, for: 5s}
//
// Knows no server and no process: who can be hit is the business of the injector (harness/faults).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/time/clock.hpp"

namespace lockmark::config {

enum class fault_kind : std::uint8_t {
  pause,       // SIGSTOP; SIGCONT after `for`
  kill,        // SIGKILL; a server is started again after `for`, a participant is not
  cut,         // connections break and new ones are refused, until `for` is over
  stall,       // nothing gets through, nothing breaks; after `for` what was held back is delivered
  delay,       // every byte arrives `by` later
  jump_clock,  // a server's wall clock runs `by` ahead (or behind, if negative)
  fail_over,   // a replica is made the master, while the old one lives or after its death
  run,         // a command of the user's, and `undo` after `for`
};

// Each is a word, or begins with one: "holder", "participant 2", "participants", "server 1",
// "server redis-2", "servers", "master", "replicas", "replication" (the links between servers),
// "majority", "minority", "leader", "link 1 2" (between two servers). Which ones exist depends on
// where the job runs.
struct fault_plan {
  fault_kind what{};
  std::string who{};
  // Clients on the side of the servers that are cut off, who reach these alone; all others reach
  // all servers but these. "holder", "participant 2", "participants"; empty: nobody.
  std::string with{};
  duration at{};          // since the window began
  duration lasts{};       // `for`; 0: for good (kill), or the default of the kind
  duration every{};       // 0: once
  duration by{};          // delay, jump_clock
  std::string on{};       // not empty: bytes of a request; instead of `at`, as soon as a request of
                          // `who` that holds them was answered, before its next one leaves
  std::uint64_t nth = 1;  // of `on`
  std::string answered{};         // bytes of an answer: only requests that were so answered count
  bool keeps_data = true;         // kill of a server: whether it comes back with its data
  std::string command{}, undo{};  // run

  bool operator==(const fault_plan&) const = default;
};

// From the job's keys "1.do", "1.at", ... (harness/config/job.hpp, member `faults`), in the order
// of their numbers. Throws config_error that names the key ("faults.1.at: ...").
std::vector<fault_plan> read_faults(const std::map<std::string, std::string>& keys);

// What read_faults would throw, with key and sentence apart; nothing where the plans are fine.
struct fault_problem {
  std::string key;  // "faults.1.at"; perhaps one that is missing
  std::string sentence;
};
std::optional<fault_problem> find_fault_problem(const std::map<std::string, std::string>& keys);

// Whether such a fault breaks, holds up or slows links: cut, stall, delay.
bool is_of_links(fault_kind kind);
// Whether it is aimed at the link between two servers ("link 1 2").
bool hits_one_link(const fault_plan& plan);
// Whether it is aimed at lock clients ("holder", "participant 2"), not at servers or replication.
bool hits_participants(const fault_plan& plan);

// "kill_master", "pause_holder": what a mark and a metric call it; lower case, no number.
std::string name_of(const fault_plan& plan);
// "the master was killed and came back without its data after 3 s": a sentence for people. Of a
// command it tells the program only.
std::string describe(const fault_plan& plan);

}  // namespace lockmark::config
