#include "harness/async/socket_watch.hpp"

#include <sys/epoll.h>

#include <array>
#include <asio/posix/basic_stream_descriptor.hpp>
#include <cerrno>
#include <system_error>
#include <vector>

namespace lockmark {

// One for each loop: an epoll of its own inside Asio's, which re-arms a descriptor for each wait.
class socket_watch::poller final : public asio::execution_context::service {
 public:
  using key_type = poller;
  static asio::execution_context::id id;

  explicit poller(asio::io_context& c)
      : service(c), epoll_(c.get_executor(), epoll_create1(EPOLL_CLOEXEC)) {
    wait();
  }

  // `l` is the one loop of this context.
  std::uint64_t add(loop& l, int fd, listener& who) {
    loop_ = &l;
    const std::size_t place = free_place();
    slot& s = slots_[place];
    const std::uint64_t number = std::uint64_t{s.generation} << 32 | place;
    epoll_event wanted{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                       .data = {.u64 = number}};
    if (epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, fd, &wanted) != 0) {
      throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
    s.who = &who;
    return number;
  }

  void remove(int fd, std::uint64_t number) {
    epoll_ctl(epoll_.native_handle(), EPOLL_CTL_DEL, fd, nullptr);
    slot& s = slots_[number & 0xffffffff];
    s.who = nullptr;
    ++s.generation;
  }

 private:
  // Events of a watch that has ended meanwhile carry the generation before.
  struct slot {
    listener* who = nullptr;
    std::uint32_t generation = 0;
  };

  std::size_t free_place() {
    for (std::size_t n = 0; n < slots_.size(); ++n) {
      next_ = (next_ + 1) % slots_.size();
      if (slots_[next_].who == nullptr) return next_;
    }
    slots_.resize(2 * slots_.size() + 8);
    return next_ = slots_.size() - 1;
  }

  void wait() {
    epoll_.async_wait(asio::posix::descriptor_base::wait_read, [this](const std::error_code& e) {
      if (e) return;
      tell();
      wait();
    });
  }

  // Asks again while there is something: the way back through Asio costs three system calls. Not
  // for ever, since timers and other sockets wait meanwhile.
  void tell() {
    constexpr int enough = 64;
    int told = 0;
    while (told < enough) {
      std::array<epoll_event, enough> happened;
      const int count = epoll_wait(epoll_.native_handle(), happened.data(), enough, 0);
      if (count <= 0) return;
      for (int i = 0; i < count; ++i) tell(happened[static_cast<std::size_t>(i)]);
      told += count;
    }
  }

  void tell(const epoll_event& of) {
    const std::uint64_t number = of.data.u64;
    const slot& s = slots_[number & 0xffffffff];
    if (s.who == nullptr || s.generation != number >> 32) return;
    s.who->stirred(((of.events & ~std::uint32_t{EPOLLOUT}) != 0 ? readable : 0U) |
                   ((of.events & EPOLLOUT) != 0 ? writable : 0U));
    loop_->resume_ready();
  }

  void shutdown() override { epoll_.close(); }

  asio::posix::basic_stream_descriptor<executor> epoll_;
  loop* loop_ = nullptr;
  std::vector<slot> slots_;
  std::size_t next_ = 0;
};

asio::execution_context::id socket_watch::poller::id;

socket_watch::socket_watch(loop& l, int fd, listener& who)
    : poller_(asio::use_service<poller>(l.context())), fd_(fd), number_(poller_.add(l, fd, who)) {}

socket_watch::~socket_watch() {
  poller_.remove(fd_, number_);
}

}  // namespace lockmark
