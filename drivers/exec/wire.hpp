// The line protocol between lockmark and a lock client in a process of its own: text in, values
// out. Described in README.md beside this file. Knows no process and no loop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/target.hpp"
#include "harness/driver.hpp"

namespace lockmark::exec {

inline constexpr int protocol_version = 1;

// A longer line is no lock client's answer; a client with this much unread input does not read.
inline constexpr std::size_t longest_line = 1024 * 1024;

// The contents of the first message to a client.
struct greeting {
  std::string url;        // of the server, as given, with its password
  config::target server;  // the same, read
  std::string lock;       // "exec/redisson"
  std::string run;
  const std::vector<std::string>& keys;
  std::string prefix;  // of every key name on the server
  const option_values& options;
  instance who;
  duration within{};  // for the first contact with the server
};

// Every line ends in '\n'.
std::string hello_line(const greeting& g);

enum class operation : std::uint8_t { acquire, renew, release, wipe };

// `left` is the time until the request's deadline, `more` its grace.
std::string call_line(operation op, std::uint64_t id, const request& r, duration left,
                      duration more);
std::string close_line();

// The prefix of a run's key names on the server: the same as for lockmark's own locks.
std::string key_prefix(std::string_view scheme, std::string_view run);

// The stages of a call, by the client's CLOCK_MONOTONIC, which is this host's and so ours.
struct call_stamps {
  time_point received{};  // the request was read
  time_point began{};     // the library was called
  time_point ended{};     // it returned
  time_point sent{};      // the answer was written

  // What passed in the client's process, its own queue included.
  duration inside() const { return sent - received; }
};

// Of a call that took `whole`, the time outside the client's process. Without stamps nothing is
// known of it, and all counts as the lock's.
duration pipe_of(duration whole, const std::optional<call_stamps>& at);

// One parsed line from the client.
struct answer {
  enum class kind : std::uint8_t { ready, failed, outcome, alive };
  kind what = kind::outcome;
  std::string text{};                   // ready: the client's name and version; failed: the reason
  bool is_ready = true;                 // ready
  std::vector<std::string> features{};  // ready
  description about{};                  // ready
  bool alive = true;                    // alive

  std::uint64_t id = 0;  // outcome
  std::optional<outcome<grant>> ending{};
  std::optional<std::chrono::milliseconds> valid{};  // granted: remaining lease, from ended
  std::optional<std::uint64_t> reconnects{};         // so far, if the client counts them
  std::optional<call_stamps> at{};
};

// The parsed line; or how it violates the protocol: "its \"id\" is \"x\"; expected ...". Never
// throws, and allocates memory only in proportion to the line.
config::parsed<answer> read_line(std::string_view line);

// Why these cannot be the stamps of a call that was written at `asked` and whose answer was read at
// `read`; empty if they can.
std::string wrong_with(const call_stamps& at, time_point asked, time_point read);

// Every form in which the server's passwords may appear in a client's output.
std::vector<std::string> secrets_in(const std::string& url, const config::target& server);

// A line for an error sentence: its beginning, on one line, with all but plain text escaped.
std::string quoted_line(std::string_view line);

// A feature's bit by its name, such as "fencing token"; none if there is no such feature.
features feature_named(std::string_view name);

}  // namespace lockmark::exec
