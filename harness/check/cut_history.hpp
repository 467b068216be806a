// What the clients of one process were doing when it died, and the events that end their history.
//
// Reads the process's own events. A dead process holds nothing any more and waits for nothing;
// whether what it was asking for still happened on the server, nobody can know.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

class cut_history {
 public:
  // Of the run's instances 0, 1, ..., those belong to this process whose number is `number` modulo
  // `processes`; each has `clients` clients, which count over all instances. `optimistic`: attempts
  // end with a commit that may be under way. `notes_answers`: so does the process
  // (setup::on_event), and a release without one is in doubt.
  cut_history(std::uint32_t processes, std::uint32_t clients, bool optimistic,
              bool notes_answers = false)
      : processes_(processes),
        clients_(clients),
        optimistic_(optimistic),
        notes_answers_(notes_answers) {}

  void see(const event& e);

  // When the process died, at the earliest that its own events allow.
  std::int64_t last_ns() const { return last_ns_; }

  // The events that follow those it noted, all at `at_ns`. REQUIRES: at_ns >= last_ns().
  std::vector<event> ends_at(std::int64_t at_ns) const;

 private:
  enum class doing : std::uint8_t { nothing, attempt, doubted_commit, hold, release };
  struct state {
    std::uint64_t token = 0;
    std::uint32_t client = 0;
    std::uint32_t key = 0;
    doing what = doing::nothing;
  };
  state& state_of(std::uint32_t client);

  const std::uint32_t processes_;
  const std::uint32_t clients_;
  const bool optimistic_;
  const bool notes_answers_;
  std::int64_t last_ns_ = 0;
  std::vector<state> states_;  // by the client's place among those of this process
};

}  // namespace lockmark::check
