// Tells of all that happens at a descriptor owned by a client library, from beginning to end.
//
// For libraries whose calls do not block and that read all there is (PostgreSQL's). Arms nothing
// for a single wait, as fd_watch does, so that waiting costs no system calls; in return it tells of
// a change only once (edge-triggered): whoever leaves bytes unread is not told of them again.
#pragma once

#include <cstdint>

#include "harness/async/loop.hpp"

namespace lockmark {

class socket_watch {
 public:
  static constexpr unsigned readable = 1;  // also: closed by the peer, or broken
  static constexpr unsigned writable = 2;

  class listener {
   public:
    // On the loop's thread. `events`: something has happened, not always news. May end the watch.
    virtual void stirred(unsigned events) = 0;

   protected:
    ~listener() = default;
  };

  // Watches `fd`, which the library still owns and which must stay open until this is destroyed.
  // `who` must outlive this.
  socket_watch(loop& l, int fd, listener& who);
  ~socket_watch();
  socket_watch(const socket_watch&) = delete;
  socket_watch& operator=(const socket_watch&) = delete;

 private:
  class poller;
  poller& poller_;
  int fd_;
  std::uint64_t number_;
};

}  // namespace lockmark
