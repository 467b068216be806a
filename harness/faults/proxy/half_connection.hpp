// One direction of a proxied connection: what was read from one socket and not yet written to the
// other one, in order, each piece with the time at which it may go on.
//
// Knows no mode and no epoll: who owns it decides when it reads and when it writes.
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
  // Sockets that do not block, and stay their owner's.
  void join(int from, int to) {
    from_ = from;
    to_ = to;
  }

  // Reads once into `room`; empty where nothing was there, or the end came.
  std::string_view read(std::span<char> room);

  // Writes `bytes` at once if nothing waits before them, and keeps what is left.
  void pass_on(std::string_view bytes);
  // Keeps them until `due`, which is not before that of what is kept already.
  void keep(std::string_view bytes, time_point due);
  // The end comes behind what is kept, at `due`. REQUIRES: ended(); called once.
  void keep_end(time_point due);
  // Everything that is kept may go on now.
  void hurry();

  // Writes what is due.
  void write_due(time_point now);

  // The sender has ended, and how far that has come.
  bool ended() const { return ended_; }
  bool passed_end() const { return passed_end_; }
  // A socket failed: the connection is of no use any more.
  bool broken() const { return broken_; }

  bool empty() const { return kept_.empty(); }
  // The receiver's buffers are full.
  bool blocked() const { return blocked_; }
  // Enough is kept: the sender has to wait.
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
