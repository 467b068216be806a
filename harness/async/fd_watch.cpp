#include "harness/async/fd_watch.hpp"

namespace lockmark {

struct fd_watch::state {
  explicit state(loop& l) : changed(l) {}
  signal changed;
  unsigned asked = 0;
  unsigned ready = 0;
  bool interrupted = false;
};

fd_watch::fd_watch(loop& l, int fd)
    : descriptor_(l.context(), fd), state_(std::make_shared<state>(l)) {}

fd_watch::~fd_watch() {
  descriptor_.release();
}

// A wait that is no longer needed stays armed for the next call to use.
void fd_watch::start(unsigned event, asio::posix::descriptor_base::wait_type type) {
  if ((state_->asked & event) != 0) return;
  state_->asked |= event;
  descriptor_.async_wait(type, [s = state_, event](const std::error_code& error) {
    s->asked &= ~event;
    if (error) return;
    s->ready |= event;
    s->changed.set();
  });
}

// What is still armed from an earlier wait may happen meanwhile: it is kept for whoever wants it.
task<unsigned> fd_watch::wait(unsigned events, time_point deadline) {
  const auto s = state_;  // interrupt() may be followed by the end of this
  s->interrupted = false;
  if ((s->ready & events) == 0) {
    if ((events & readable) != 0) start(readable, descriptor::wait_read);
    if ((events & writable) != 0) start(writable, descriptor::wait_write);
  }
  bool in_time = true;
  while ((s->ready & events) == 0 && in_time && !s->interrupted) {
    s->changed.clear();
    in_time = co_await s->changed.wait_until(deadline);
  }
  const unsigned got = s->ready & events;
  s->ready &= ~got;
  co_return got;
}

void fd_watch::interrupt() {
  state_->interrupted = true;
  state_->changed.set();
}

}  // namespace lockmark
