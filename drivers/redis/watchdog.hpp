// Renews what the clients of a session hold, every third of its lease and until it is given up, as
// Redisson's watchdog does. Works in the background, over connections of its own: several where
// there are many clients, so that a round of renewals fits into its third. What was renewed longest
// ago comes first, so that nothing is forgotten where that does not suffice.
//
// Redisson's rules: nothing is renewed in the first third; a hold that turns out to be gone is
// renewed no more, and nobody is told; after an error, the next third tries again.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "drivers/redis/connection.hpp"
#include "harness/async/scope.hpp"
#include "harness/async/signal.hpp"

namespace lockmark::redis {

// The option `watchdog` of locks that can have one.
lock_option watchdog_option();

// Whether that option is on.
bool watched(const option_values& options);

// How many holds one command can renew: the keys of one must live on one node of a Cluster.
inline std::size_t batch_at(const target& where, std::size_t most) {
  return where.how == target::form::cluster ? 1 : most;
}

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

  // Of the session of so many clients. At most `batch` holds are extended by one command. `at` and
  // `count` must outlive this.
  watchdog(loop& l, topology_cache& at, traffic& count, std::uint32_t clients, std::size_t batch,
           extender how);

  // How many connections that takes.
  static std::uint32_t connections_for(std::uint32_t clients, std::size_t batch);

  // From now on `h` is renewed; it lasts at least until `ends`. One hold may be added several
  // times, and is renewed until it was removed as often. Throws failure().
  void add(hold h, duration lease, time_point ends);
  void remove(hold h);

  // Throws what ended the renewing: an answer that is no ending of a lock.
  void throw_failure() const;

  // REQUIRES: called before the destructor if anything was ever added. Throws nothing.
  task<void> close();

 private:
  struct care {
    duration lease;
    std::size_t levels;
    std::uint64_t since;  // tells a hold from one that was given up and taken again
    time_point ends;      // the lease, at the earliest
    bool counted;         // as late, since it was last renewed
  };
  using entry = std::pair<hold, care>;
  using entries = std::vector<entry>;

  task<void> run();
  task<void> renew_in_time();
  std::vector<entries> batches() const;
  task<void> renew(const entries& some, time_point deadline);
  void take(const entries& some, const reply& said, time_point asked);
  void note_if_late(care& c);
  duration period() const;

  loop& loop_;
  traffic& count_;
  std::vector<std::unique_ptr<connection>> connections_;
  std::vector<connection*> idle_;
  const std::size_t batch_;
  const extender extend_;
  std::map<hold, care> held_;
  std::uint64_t added_ = 0;
  time_point next_ = time_point::max();
  bool running_ = false;
  bool closing_ = false;
  std::exception_ptr failure_;
  signal wake_;
  scope background_;
};

}  // namespace lockmark::redis
