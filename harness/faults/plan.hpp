// The faults that a job inflicts on servers, clients and the network between them under load.
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
// Knows no server and no process; the injector decides which targets exist. A mistake in the keys
// is found when the job is read (config::find_fault_problem).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/time/clock.hpp"

namespace lockmark::faults {

class fault_kind;

// Each target is a word, or begins with one: "holder", "participant 2", "participants", "server 1",
// "server redis-2", "servers", "master", "replica" (one of them), "replicas", "replication" (the
// links between servers), "majority", "minority", "leader", "link 1 2" (between two servers). Which
// targets exist depends on where the job runs.
struct fault_plan {
  const fault_kind* what = nullptr;
  std::string who{};
  // Clients on the side of the partitioned servers: they reach only these, all others reach only
  // the remaining servers. "holder", "participant 2", "participants"; empty: none.
  std::string with{};
  duration at{};          // since the start of the window
  duration lasts{};       // `for`; 0: permanent (kill), or the default of the kind
  duration every{};       // 0: once
  duration by{};          // delay, jump_clock
  std::string on{};       // bytes of a request; empty: use `at`. The fault begins when a request of
                          // `who` with them is answered, before its next one leaves
  std::uint64_t nth = 1;  // of `on`
  std::string answered{};         // bytes of a reply: only requests with such a reply count
  bool keeps_data = true;         // kill of a server: it restarts with its data
  std::string command{}, undo{};  // run

  bool operator==(const fault_plan&) const = default;
};

// From the job's keys "1.do", "1.at", ... (harness/config/job.hpp, member `faults`), in numerical
// order. Throws config_error that names the key ("faults.1.at: ...").
std::vector<fault_plan> read_faults(const std::map<std::string, std::string>& keys);

// True if the target is the link between two servers ("link 1 2").
bool hits_one_link(const fault_plan& plan);
// True if the target is lock clients ("holder", "participant 2"), not servers or replication.
bool hits_participants(const fault_plan& plan);

// "kill_master", "pause_holder": the name in marks and metrics; lower case, no number.
std::string name_of(const fault_plan& plan);
// "the master was killed and came back without its data after 3 s": a sentence for people. Shows
// only the program of a command.
std::string describe(const fault_plan& plan);

}  // namespace lockmark::faults
