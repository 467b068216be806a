// The history of a run as operations of its clients, in the EDN that Jepsen's checkers read: one op
// map per line, as knossos.cli takes them.
//
//   {:type :ok, :f :acquire, :value [KEY TOKEN], :process 3, :time 4711, :index 12}
//
// An attempt is one :acquire, however often it was tried: :ok when granted, :fail when certainly
// not, :info when in doubt. A release likewise. After :info the process never appears again, as it
// may still be active; its client continues as a new process, whose number is the old one plus the
// number of clients. :time is in nanoseconds since the first op.
//
// A hold whose process died ends in a release in doubt at that moment.
//
// Omits what happens inside an attempt: nested acquires, renewals, single tries; and what a careful
// holder promised, so that its hold lasts until its release here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

class edn_history {
 public:
  // `clients`: of the whole run. `has_tokens`: the lock gives fencing tokens; otherwise TOKEN is
  // nil.
  edn_history(std::uint32_t clients, bool has_tokens);

  // Appends the line of this event. REQUIRES: events in order of time, of a lock that is held and
  // released, noted with their answers (event_kind::answered).
  void append(const event& e, std::string& to);

 private:
  struct client_state {
    std::uint64_t process = 0;
    std::uint64_t token = 0;  // of its last grant
  };

  void write(const event& e, const char* type, const char* function, std::string& to);
  void end(const event& e, const char* function, std::string& to);

  std::uint32_t clients_;
  bool has_tokens_;
  std::vector<client_state> states_;
  std::uint64_t index_ = 0;
  std::int64_t first_ns_ = 0;
};

}  // namespace lockmark::check
