// The contract of a workload: what a client does with a lock, written as one attempt.
//
// A workload is one coroutine: ask, wait, hold, give back. The harness decides when attempts begin,
// on which key, and how long to hold; it stamps, counts and checks what the workload reports to
// `client`. A workload does the retries of polling locks, and never touches time or statistics.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "harness/driver.hpp"

namespace lockmark {

// The parameters of one attempt.
struct plan {
  std::uint32_t key = 0;
  duration hold{};          // length of the critical section; zero: none
  duration wait{};          // from the first try until it gives up
  std::uint32_t depth = 1;  // how many times a reentrant lock is taken
  bool shared = false;      // a reader's
};

// One simulated thread, during one attempt. Each call below reports a fact that the harness
// records; the order is ask -> answered -> (retry -> ask -> answered)... -> hold -> giving_back ->
// gave_back.
class client {
 public:
  virtual const plan& todo() const = 0;
  virtual session& lock() = 0;

  // The request for the next try; the first one starts the attempt.
  virtual request ask() = 0;
  // Reports the answer to a try. True: the key is held from now on.
  virtual bool answered(const outcome<grant>& answer) = 0;
  // After a try that was refused as busy or lost to a conflict: pauses according to the job's retry
  // policy. False: no further try fits before the deadline, or none makes sense.
  virtual task<bool> retry() = 0;

  // Spends todo().hold in the critical section, renewing the lease if the job asks for it.
  virtual task<void> hold() = 0;

  // A nested acquire or release of a lock already held; not stamped.
  virtual request nested() = 0;
  virtual void broke(std::string_view what) = 0;  // a broken promise of the lock

  // The request that gives the key up; the hold ends here.
  virtual request giving_back() = 0;
  virtual void gave_back(const outcome<nothing>& answer) = 0;

  // Optimistic locks: reports what was read (true: go on), returns the request that commits it,
  // then reports the outcome (true: committed).
  virtual bool read(const outcome<grant>& answer) = 0;
  virtual request committing() = 0;
  virtual bool committed(const outcome<nothing>& answer) = 0;

 protected:
  ~client() = default;
};

class workload {
 public:
  virtual ~workload() = default;
  virtual task<void> attempt(client& me) const = 0;
};

// One row of the table of workloads that users see.
struct workload_kind {
  std::string_view name;
  std::string_view summary;
  features needs;    // refused at start when the lock lacks one of these
  features opposes;  // or has one of these
  std::unique_ptr<workload> (*make)();
};

}  // namespace lockmark
