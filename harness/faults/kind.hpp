// A kind of fault: one class says which keys it takes, what it needs, how it is injected and
// undone, how a sentence describes it, and what it does to a client. All are in kinds.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/async/task.hpp"
#include "harness/faults/link_mode.hpp"
#include "harness/faults/plan.hpp"
#include "harness/time/clock.hpp"

namespace lockmark {
class loop;
}

namespace lockmark::faults {

// The requirements of faults on the servers of a run, known before these start.
struct fault_needs {
  bool own_servers = false;  // not those of `lockmark up`, which may be in use by others
  bool kept_data = false;    // a killed server comes back with its data
  bool clock_shim = false;
  bool promotion = false;  // a replica can become the master
  bool proxies = false;    // between clients and servers
  bool partition = false;  // between servers that can be partitioned (local::can_partition)
  bool links = false;      // between servers of any kind

  // What other jobs of the same servers need, too.
  void add(const fault_needs& other) {
    own_servers = own_servers || other.own_servers;
    kept_data = kept_data || other.kept_data;
    clock_shim = clock_shim || other.clock_shim;
    promotion = promotion || other.promotion;
    proxies = proxies || other.proxies;
    partition = partition || other.partition;
    links = links || other.links;
  }
};

// The targets of one fault, fixed when it begins, and the means to affect them. Those of a
// participant are its process and its links; those of a server also its data and its clock.
// Implemented by the injector. All may throw no_server or usage_error.
class targets {
 public:
  virtual ~targets() = default;

  // Stamped before the first effect; a means that knows better sets it.
  time_point began{};

  // SIGSTOP, SIGCONT or SIGKILL to every process.
  virtual task<void> signal(loop& l, int number) = 0;
  // Servers only: participants that were killed stay dead.
  virtual task<void> restart(loop& l, bool keeps_data) = 0;
  // Servers only; 0: the true time again.
  virtual task<void> set_clocks(loop& l, duration ahead) = 0;
  virtual task<void> set_links(loop& l, link_mode mode, duration by = {}) = 0;
  // A replica takes the master's place for good.
  virtual task<void> promote(loop& l) = 0;
  // A command of the user's, by /bin/sh.
  virtual task<void> shell(loop& l, std::string command) = 0;
};

// How a client notices a fault that hits it; the prediction of its lock's recovery begins here.
enum class client_effect : std::uint8_t { none, gone, paused, stalled, cut_off };

// The keys of one fault as they were given.
class given_keys {
 public:
  explicit given_keys(std::uint64_t number);  // in the job's list, from 1

  fault_plan plan{};
  void add(std::string key) { keys_.push_back(std::move(key)); }
  bool has(std::string_view key) const;
  // Throws what read_faults and find_fault_problem report: `key` of this fault, and a sentence.
  [[noreturn]] void refuse(std::string_view key, std::string sentence) const;

 private:
  std::string prefix_;
  std::vector<std::string> keys_;
};

// Parts of a sentence about a plan.
struct phrase {
  std::string whom;        // "the master", "the link between 1 and 2"
  bool several = false;    // "were" instead of "was"
  bool link = false;       // between two servers
  std::string for_a_time;  // " for 5 s"; empty: for good

  std::string_view was() const { return several ? "were" : "was"; }
  std::string_view its() const { return several ? "their" : "its"; }
};
// "1.5s" as "1.5 s".
std::string spoken(duration d);

class fault_kind {
 public:
  explicit fault_kind(std::string_view its_name) : name(its_name) {}
  virtual ~fault_kind() = default;
  fault_kind(const fault_kind&) = delete;
  fault_kind& operator=(const fault_kind&) = delete;

  const std::string_view name;  // "pause", after `do`

  // False if it has no `who`.
  virtual bool has_target() const { return true; }
  // True if `for` must be given.
  virtual bool needs_length() const { return false; }
  // Whether it takes a key that most kinds do not: by, data, command, undo. `by` is then required.
  virtual bool takes(std::string_view key, const fault_plan& plan) const;
  // Refuses what else is wrong with the keys of this kind.
  virtual void check(const given_keys&) const {}

  // Breaks, holds up or slows links; all other kinds affect processes.
  virtual bool of_links() const { return false; }
  // Lasts until it is undone, instead of happening at one moment.
  virtual bool lasts(const fault_plan&) const { return true; }
  // What it does takes time, and lasts until it is done.
  virtual bool takes_time() const { return false; }
  virtual client_effect on_client() const { return client_effect::none; }
  virtual void add_needs(const fault_plan&, fault_needs&) const {}

  // In force when this returns.
  virtual task<void> inject(loop& l, const fault_plan& plan, targets& at) const = 0;
  // Also called after inject() has failed half-way.
  virtual task<void> undo(loop& l, const fault_plan& plan, targets& at) const = 0;

  virtual std::string mark(const fault_plan& plan) const;  // as name_of()
  virtual std::string describe(const fault_plan& plan, const phrase& words) const = 0;
};

// All kinds, in the order of help texts. They live as long as the program.
std::span<const fault_kind* const> kinds();
// Null for an unknown name.
const fault_kind* find_kind(std::string_view name);

// The words that a fault's `who` begins with.
struct target_word {
  std::string_view word;
  std::string_view spoken;  // in a sentence; empty: as written, since numbers or names follow
  bool several = false;
  std::size_t names = 0;  // number of names that follow
};

std::span<const target_word> target_words();
// By the first word of `who`; null if it is unknown.
const target_word* find_target_word(std::string_view who);

}  // namespace lockmark::faults
