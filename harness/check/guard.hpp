// A resource that the lock under test protects, one register for each key, outside its servers.
//
// A holder reads the register when its hold begins, and writes it when its hold ends, just before
// it sends the release. A write that finds something else than its holder had read overwrites
// somebody's update: two held the key at once, whatever the clocks say. With fencing tokens it
// also counts what a fence would have refused: an access with a lower token than one seen before.
//
// Exact, by atomics; in memory that several processes may share. It refuses nothing: what is
// measured is the lock, without the fence.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace lockmark::check {

// What it holds is the number of the write that made it, so that no two contents are the same.
struct alignas(64) guarded_register {
  std::atomic<std::uint64_t> content{0};
  std::atomic<std::uint64_t> highest_token{0};  // that has read or written
  std::atomic<std::uint64_t> lost_updates{0};
  std::atomic<std::uint64_t> stale_accesses{0};
  std::atomic<std::uint64_t> without_token{0};  // writes
};

struct guard_counts {
  std::uint64_t writes = 0;
  std::uint64_t lost_updates = 0;
  std::uint64_t stale_accesses = 0;  // reads and writes
  std::uint64_t writes_without_token = 0;
  bool fenced = false;  // grants carry tokens

  // Holds that met another holder, at least: each one has two accesses.
  std::uint64_t proofs() const {
    const std::uint64_t stale_holds = (stale_accesses + 1) / 2;
    return lost_updates > stale_holds ? lost_updates : stale_holds;
  }
};

class guard {
 public:
  // One register for each key; they outlive this, and may be shared with other processes' guards.
  guard(std::span<guarded_register> registers, bool fenced)
      : registers_(registers), fenced_(fenced) {}

  // Returns what was read, for the write of the same hold. Tokens begin at 1; 0 is none.
  std::uint64_t read(std::uint32_t key, std::uint64_t token);
  void write(std::uint32_t key, std::uint64_t token, std::uint64_t had_read);

  // Of all registers, by all processes.
  guard_counts counts() const;

 private:
  void see_token(guarded_register& r, std::uint64_t token);

  const std::span<guarded_register> registers_;
  const bool fenced_;
};

}  // namespace lockmark::check
