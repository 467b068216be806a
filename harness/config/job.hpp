// A job: what to run, as typed values. Reads YAML and --set, checks, prints.
//
// Does not know which locks, workloads or lock options exist: their owners check those names.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/distribution.hpp"
#include "harness/config/key_choice.hpp"
#include "harness/config/option.hpp"
#include "harness/config/quantity.hpp"
#include "harness/config/retry_policy.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::config {

// When the next attempt begins. closed: when the client's last one ended. open: at a constant rate;
// poisson: at random with a mean rate; partly_open: sessions begin at random with a mean rate and
// make load.cycles attempts each.
enum class loop_kind { closed, open, poisson, partly_open };

inline constexpr std::array<std::string_view, 4> loop_names{"closed", "open", "poisson",
                                                            "partly_open"};
template <>
struct text_form<loop_kind> : text_names<loop_kind, loop_names> {
  static constexpr std::string_view what = "closed, open, poisson or partly_open";
};

// The resource that holders of a key read and write, outside the lock's servers.
enum class guard_kind { none, shared_register };

inline constexpr std::array<std::string_view, 2> guard_names{"none", "register"};
template <>
struct text_form<guard_kind> : text_names<guard_kind, guard_names> {
  static constexpr std::string_view what = "none or register";
};

// What a holder goes by. careless: by its work alone, whatever has become of the lock meanwhile.
// careful: it leaves the resource alone once the lease may have ended or the session is known to be
// lost.
enum class holder_kind { careless, careful };

inline constexpr std::array<std::string_view, 2> holder_names{"careless", "careful"};
template <>
struct text_form<holder_kind> : text_names<holder_kind, holder_names> {
  static constexpr std::string_view what = "careless or careful";
};

// Meanings, units, defaults and bounds of the members are in job_options() (job.cpp). A job{} is
// all zeros and not valid, so begin with default_job().
struct job {
  std::string lock;  // "backend/algorithm"; empty: not chosen yet
  std::string workload;
  std::map<std::string, std::string> options;  // of the lock, keys without "options."

  loop_kind loop{};
  std::uint64_t instances{};
  std::uint64_t clients{};  // of each instance
  std::uint64_t threads{};  // 0: one per core
  std::optional<config::rate> rate;
  std::uint64_t cycles{};  // 0: not given
  distribution think;
  std::uint64_t backlog{};

  std::uint64_t participants{};  // processes that the instances live in; 0: this one

  key_choice keys;
  distribution hold;
  holder_kind holder{};
  duration wait{};
  duration lease{};
  bool renew{};
  retry_policy retry;
  std::uint64_t reentrancy{};
  double read_share{};    // of attempts, 0..1; 0: none
  duration rtt{};         // added to each round trip between clients and servers; 0: none
  duration rtt_jitter{};  // up to so much more, drawn anew for each message; 0: none
  duration session_timeout{};
  guard_kind guard{};

  duration warmup{};
  std::uint64_t stop_samples{};        // 0: none
  std::uint64_t stop_owner_changes{};  // 0: none
  duration stop_duration{};            // 0: none
  duration stop_at_most{};
  duration command_timeout{};
  duration give_up_after{};
  duration floor{};  // 0: no floor measurement
  std::uint64_t seed{};

  // Faults inflicted during the run on servers, clients and network: "1.do", "1.at", ... without
  // "faults.". Parse them with faults::read_faults.
  std::map<std::string, std::string> faults;

  std::uint64_t clients_in_all() const { return instances * clients; }
  bool arrives_by_rate() const { return loop != loop_kind::closed; }
  bool operator==(const job&) const = default;
};

// The one table of options, in the order in which they are printed and explained.
option_table<job> job_options();

// All options at their defaults. Not yet a job that can run: it has no end (stop.*).
job default_job();

// Reads a job, applies the assignments ("KEY=VALUE", as after --set) in order, then checks that its
// options are consistent. An assigned stop.duration lengthens a stop.at_most that is not assigned.
// Throws config_error.
job parse_job(const std::string& yaml, const std::string& file,
              const std::vector<std::string>& assignments = {});
job load_job(const std::string& path, const std::vector<std::string>& assignments = {});

// As the file has it, without a check of the whole. Throws config_error.
job draft_job(const std::string& yaml, const std::string& file);

// The text of a job's file. Throws config_error.
std::string read_job_file(const std::string& path);

// Applies one assignment, "KEY=VALUE", without checking the whole job. Throws config_error.
void apply_set(job& target, std::string_view assignment);

// Throws config_error ("key: sentence") if options contradict each other, as parse_job does.
void check_job(const job& checked);

// The check of a job's faults while its file and lines are still known.
struct fault_problem {
  std::string key;  // "faults.1.at"; may be a missing key
  std::string sentence;
};

// `keys`: "1.do", "1.at", ... Nothing if faults::read_faults accepts them. Defined in
// harness/faults/plan_reader.cpp.
std::optional<fault_problem> find_fault_problem(const std::map<std::string, std::string>& keys);

// The whole job as YAML, including defaults: parse_job(print_job(j), ...) == j.
std::string print_job(const job& printed);

// For --help: every option with default, allowed values and meaning.
std::string help_text();

}  // namespace lockmark::config
