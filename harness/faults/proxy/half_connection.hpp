// One direction of a proxied connection: bytes read from one socket and not yet written to the
// other, in order, each piece with the earliest time at which it may be written.
//
// Knows no mode and no epoll: its owner decides when it reads and writes.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "harness/time/clock.hpp"

namespace lockmark::faults {

class half_connection {
 public:
  // Non-blocking sockets, still owned by the caller.
  void join(int from, int to) {
    from_ = from;
    to_ = to;
  }

  // Reads once into `room`; empty if nothing was there, or at the end of the stream.
  std::string_view read(std::span<char> room);

  // Writes `bytes` at once if nothing is queued before them, and keeps the rest.
  void pass_on(std::string_view bytes);
  // Keeps them until `due`, and until the bytes before them are due: nothing overtakes.
  void keep(std::string_view bytes, time_point due);
  // Queues the end of the stream in the same way. REQUIRES: ended(); called once.
  void keep_end(time_point due);
  // Makes everything kept due now.
  void hurry();

  // Writes the bytes that are due.
  void write_due(time_point now);

  // The sender has ended; the end has been passed on.
  bool ended() const { return ended_; }
  bool passed_end() const { return passed_end_; }
  // A socket failed: the connection is unusable.
  bool broken() const { return broken_; }

  bool empty() const { return kept_.empty(); }
  // The receiver's buffers are full.
  bool blocked() const { return blocked_; }
  // The limit is reached: the sender has to wait.
  bool full() const { return kept_bytes_ >= most_kept; }

 private:
  static constexpr std::size_t most_kept = 4 * 1024 * 1024;

  struct piece {
    time_point due;
    std::string bytes;  // empty: the end
  };
  std::size_t write(std::string_view bytes);

  int from_ = -1;
  int to_ = -1;
  std::deque<piece> kept_;
  std::size_t kept_bytes_ = 0;
  bool ended_ = false;
  bool passed_end_ = false;
  bool broken_ = false;
  bool blocked_ = false;
};

}  // namespace lockmark::faults
