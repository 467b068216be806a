// Renews the holds of a session's clients every third of their lease until they are released, as
// Redisson's watchdog does. It works in the background, over connections of its own: several for
// many clients, so that a round of renewals fits into a third. The hold renewed longest ago comes
// first, so that none is forgotten if a round does not fit.
//
// Redisson's rules: nothing is renewed in the first third; a hold that turns out to be gone is
// dropped, and nobody is told; after an error, the next third tries again.
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

// An option that is true or false.
inline lock_option yes_or_no(std::string_view name, std::string_view preset,
                             std::string_view help) {
  constexpr auto accepts = [](std::string_view v) { return v == "true" || v == "false"; };
  return {name, "true, false", preset, help, accepts};
}

// The option `watchdog`.
lock_option watchdog_option();

// Whether that option is on.
bool watched(const option_values& options);

// How many holds one command can renew: in a Cluster, its keys must live on one node.
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

  // Extends `some` to `lease` by one command. Its answer is a list with a number for each hold (0:
  // the hold is gone), or the number itself for a single hold.
  using extender = std::function<task<outcome<reply>>(connection&, const std::vector<hold>& some,
                                                      duration lease, time_point deadline)>;

  // Extends at most `batch` holds by one command. `at` and `count` must outlive this.
  watchdog(loop& l, topology_cache& at, traffic& count, std::uint32_t clients, std::size_t batch,
           extender how);

  // The number of its connections.
  static std::uint32_t connections_for(std::uint32_t clients, std::size_t batch);

  // Renews `h` from now on; it lasts at least until `ends`. A hold that is added several times is
  // renewed until it was removed as often. Throws as throw_failure().
  void add(hold h, duration lease, time_point ends);
  void remove(hold h);

  // Throws the exception that ended the renewals: an answer that is no outcome of a lock.
  void throw_failure() const;

  // REQUIRES: called before the destructor if anything was ever added. Throws nothing.
  task<void> close();

 private:
  struct care {
    duration lease;
    std::size_t levels;
    std::uint64_t since;  // distinguishes a hold from the next one of the same client
    time_point ends;      // earliest end of the lease
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
