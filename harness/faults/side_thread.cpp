#include "harness/faults/side_thread.hpp"

#include <signal.h>

#include <asio/post.hpp>

#include "harness/async/signal.hpp"

namespace lockmark::faults {

void side_thread::serve() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  work_.run();
}

task<void> side_thread::run(loop& l, std::function<void()> f) {
  signal done{l};
  std::exception_ptr failure;
  asio::post(work_, [&] {
    try {
      f();
    } catch (...) {
      failure = std::current_exception();
    }
    l.post([&done] { done.set(); });
  });
  co_await done.wait();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lockmark::faults
