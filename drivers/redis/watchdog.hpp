// Renews what the clients of a session hold, every third of its lease and until it is given up, as
// Redisson's watchdog does. Works in the background, over a connection of its own.
//
// Redisson's rules: nothing is renewed in the first third; a hold that turns out to be gone is
// renewed no more, and nobody is told; after an error, the next third tries again.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "drivers/redis/connection.hpp"
#include "harness/async/scope.hpp"
#include "harness/async/signal.hpp"

namespace lockmark::redis {

// The option `watchdog` of locks that can have one.
lock_option watchdog_option();

// Whether that option is on.
bool watched(const option_values& options);

class watchdog {
 public:
  struct hold {
    std::uint32_t key;
    std::uint32_t client;
    auto operator<=>(const hold&) const = default;
  };

  // Extends `some` to `lease` by one command, whose answer is a number for each hold, 0 for one
  // that is gone, or the number itself for a single hold.
  using extender = std::function<task<outcome<reply>>(connection&, const std::vector<hold>& some,
                                                      duration lease, time_point deadline)>;

  // `at` and `count` must outlive this. At most `batch` holds are extended by one command.
  watchdog(loop& l, whereabouts& at, traffic& count, std::size_t batch, extender how);

  // One hold may be added several times, and is renewed until it was removed as often.
  void add(hold h, duration lease);
  void remove(hold h);

  // REQUIRES: called before the destructor if anything was ever added.
  task<void> close();

 private:
  struct care {
    duration lease;
    std::size_t levels;
    std::uint64_t since;  // tells a hold from one that was given up and taken again
  };
  using entry = std::pair<hold, care>;

  task<void> run();
  task<void> renew_all(time_point deadline);
  task<void> renew_some(std::vector<entry> some, time_point deadline);
  duration period() const;

  loop& loop_;
  connection connection_;
  const std::size_t batch_;
  const extender extend_;
  std::map<hold, care> held_;
  std::uint64_t added_ = 0;
  time_point next_ = time_point::max();
  bool running_ = false;
  bool closing_ = false;
  signal wake_;
  scope background_;
};

}  // namespace lockmark::redis
