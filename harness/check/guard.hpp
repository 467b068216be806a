// A resource that the lock under test protects: one register per key, outside its servers.
//
// A holder reads the register when its hold begins, and writes it when its hold ends, just before
// it sends the release. A write that finds a value other than the one its holder read overwrites
// another client's update: two clients held the key at once, whatever the clocks say. With fencing
// tokens it also counts what a fence would have refused: an access with a lower token than one seen
// before.
//
// A fence needs the order of the tokens. Salvatore Sanfilippo holds that unique ones do ("Is
// Redlock safe?", antirez.com, 2016): a holder shows its token when it begins, and its write is
// refused if another token was shown since. So the register also counts the writes that such a
// check judges otherwise than the fence.
//
// With atomics, in memory that several processes may share. It refuses nothing: the lock is
// measured without the fence. Exact, but for writes judged otherwise: one more where another
// holder's read falls into the same instant.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace lockmark::check {

// The content is the number of the write that made it, so no two contents are equal.
struct alignas(64) guarded_register {
  std::atomic<std::uint64_t> content{0};
  std::atomic<std::uint64_t> highest_token{0};  // of all reads and writes
  std::atomic<std::uint64_t> lost_updates{0};
  std::atomic<std::uint64_t> stale_accesses{0};
  std::atomic<std::uint64_t> without_token{0};  // writes
  std::atomic<std::uint64_t> last_shown{0};     // token of the latest read
  std::atomic<std::uint64_t> misjudged_without_order{0};
};

struct guard_counts {
  std::uint64_t writes = 0;
  std::uint64_t lost_updates = 0;
  std::uint64_t stale_accesses = 0;  // reads and writes
  std::uint64_t writes_without_token = 0;
  // Writes that a check for the token shown last would let through though they are stale, or refuse
  // though they are not.
  std::uint64_t misjudged_without_order = 0;
  bool fenced = false;  // grants carry tokens

  // A lower bound of the holds that met another holder: each hold has two accesses.
  std::uint64_t proofs() const {
    const std::uint64_t stale_holds = (stale_accesses + 1) / 2;
    return lost_updates > stale_holds ? lost_updates : stale_holds;
  }
};

class guard {
 public:
  // One register per key; they must outlive this, and other processes' guards may share them.
  guard(std::span<guarded_register> registers, bool fenced)
      : registers_(registers), fenced_(fenced) {}

  // Returns the content, to be passed to the write of the same hold. Tokens begin at 1; 0: none.
  std::uint64_t read(std::uint32_t key, std::uint64_t token);
  void write(std::uint32_t key, std::uint64_t token, std::uint64_t had_read);

  // Over all registers and all processes.
  guard_counts counts() const;

 private:
  // Returns whether it is stale.
  bool see_token(guarded_register& r, std::uint64_t token);

  const std::span<guarded_register> registers_;
  const bool fenced_;
};

}  // namespace lockmark::check
