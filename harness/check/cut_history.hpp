// The state of a dead process's clients, and the events that end their history.
//
// Reads the process's own events. A dead process no longer holds or waits for anything; whether its
// requests in flight took effect on the server is unknown.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

class cut_history {
 public:
  // This process has those of the run's instances 0, 1, ... whose number is `number` modulo
  // `processes`; each has `clients` clients, which count over all instances. `optimistic`: attempts
  // end with a commit, which may be in flight. `notes_answers`: the process notes answers to
  // releases (setup::on_event), so a release without one is in doubt.
  cut_history(std::uint32_t processes, std::uint32_t clients, bool optimistic,
              bool notes_answers = false)
      : processes_(processes),
        clients_(clients),
        optimistic_(optimistic),
        notes_answers_(notes_answers) {}

  void see(const event& e);

  // The earliest time of death that its own events allow.
  std::int64_t last_ns() const { return last_ns_; }

  // The events that complete its history, all at `at_ns`. REQUIRES: at_ns >= last_ns().
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
  std::vector<state> states_;  // indexed by the client's position within this process
};

}  // namespace lockmark::check
