// Waits until a descriptor owned by a client library is readable or writable.
//
// For libraries that do their own reading and writing (ZooKeeper, MySQL). Readiness is a hint: as
// with poll(), a wait may end although there is nothing to read.
#pragma once

#include <asio/posix/basic_stream_descriptor.hpp>
#include <memory>

#include "harness/async/signal.hpp"

namespace lockmark {

class fd_watch {
 public:
  static constexpr unsigned readable = 1;
  static constexpr unsigned writable = 2;

  // Watches `fd`, which the library still owns and which must stay open until this is destroyed.
  fd_watch(loop& l, int fd);
  ~fd_watch();
  fd_watch(const fd_watch&) = delete;
  fd_watch& operator=(const fd_watch&) = delete;

  // The subset of `events` that happened; 0 only at the deadline or after interrupt(). REQUIRES:
  // one waiter at a time.
  task<unsigned> wait(unsigned events, time_point deadline);

  // Ends the wait in progress, if any, with 0 unless something is ready.
  void interrupt();

 private:
  struct state;
  using descriptor = asio::posix::basic_stream_descriptor<executor>;
  void start(unsigned event, asio::posix::descriptor_base::wait_type type);

  descriptor descriptor_;
  std::shared_ptr<state> state_;  // outlives this until the last completion
};

}  // namespace lockmark
