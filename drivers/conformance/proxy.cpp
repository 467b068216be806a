#include "drivers/conformance/proxy.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <future>
#include <utility>

namespace lockmark::conformance {
namespace {

// In the order of proxy_mode.
constexpr std::array<faults::link_mode, 5> link_modes{
    faults::link_mode::pass, faults::link_mode::hold_reply, faults::link_mode::silent,
    faults::link_mode::cut, faults::link_mode::stall};

}  // namespace

proxies::proxies(const std::vector<config::host_port>& servers) : awake_(eventfd(0, EFD_CLOEXEC)) {
  for (const auto& [host, port] : servers) {
    const std::size_t link = links_.open(host, port);
    doors_.push_back(std::make_unique<door>());
    doors_.back()->here = {"127.0.0.1", links_.port(link)};
  }
  thread_ = std::thread([this] { serve(); });
}

proxies::~proxies() {
  do_and_wait([this] { over_ = true; });
  thread_.join();
}

void proxies::serve() {
  while (!over_) {
    links_.carry_until_readable(awake_.get());
    std::uint64_t ignored = 0;
    [[maybe_unused]] const auto size = read(awake_.get(), &ignored, sizeof ignored);
    for (const std::size_t link : std::exchange(hits_, {})) reply_came(link);
    std::function<void()> what;
    {
      const std::lock_guard locked(mutex_);
      what = std::exchange(next_, nullptr);
    }
    if (what) what();
  }
}

void proxies::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto size = write(awake_.get(), &one, sizeof one);
}

void proxies::do_and_wait(std::function<void()> what) {
  std::promise<void> done;
  {
    const std::lock_guard locked(mutex_);
    next_ = [&] {
      what();
      done.set_value();
    };
  }
  wake();
  done.get_future().wait();
}

void proxies::set(proxy_mode m) {
  do_and_wait([&] {
    for (std::size_t i = 0; i < doors_.size(); ++i) {
      doors_[i]->alone = false;
      change(i, m);
    }
  });
}

void proxies::set(std::size_t which, proxy_mode m) {
  do_and_wait([&] {
    doors_[which]->alone = true;
    change(which, m);
  });
}

void proxies::change(std::size_t which, proxy_mode m) {
  doors_[which]->mode = m;
  links_.set(which, link_modes.at(static_cast<std::size_t>(m)));
}

void proxies::reply_came(std::size_t which) {
  if (doors_[which]->mode != proxy_mode::drop_replies) return;
  if (doors_[which]->alone) return change(which, proxy_mode::cut);
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    if (!doors_[i]->alone) change(i, proxy_mode::cut);
  }
}

}  // namespace lockmark::conformance
