// One suite that every driver passes against its real server.
//
// A driver's test program starts its server, adds its locks, and runs them; the program has its own
// main() because the set of tests depends on the features that each lock declares:
//
//   int main(int argc, char** argv) {
//     const auto server = lockmark::local::cluster::start("redis");
//     return lockmark::conformance::run_tests(argc, argv, [&] {
//       for (const lockmark::lock_kind& kind : lockmark::redis::kinds()) {
//         lockmark::conformance::subject s{.kind = kind, .target = server.target()};
//         s.release_checks_owner = kind.name != "redis/setnx";
//         lockmark::conformance::add(s);
//       }
//     });
//   }
//
// A case that a lock's features rule out is not added; there are no skips. The program may contain
// other TESTs. The suite starts no servers, and judges safety and deadlines, not speed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::conformance {

// The lock under test, with the facts that its declared features do not tell.
struct subject {
  lock_kind kind{};
  std::string target{};  // URL of the running servers, as in harness/config/target.hpp

  // Servers that the URL does not name, or that drivers find under names other than the URL's:
  // Sentinel's masters and replicas, the nodes of a Redis Cluster. Each as "host:port", as other
  // servers announce it. The URL's `nat` leads the driver to their proxies.
  std::vector<std::string> hidden_servers{};

  // Options that differ from their presets; `label` then distinguishes the variants of one lock.
  option_values options{};
  std::string label{};

  // For readers (feature::shared, any number of holders): the lock that writers of the same run
  // take. Without it only readers among themselves are tested. The writers' own exclusion is tested
  // by a subject of its own.
  // (Not an optional: g++ 12 then gives a false warning.)
  lock_kind writer{};
  bool has_writer() const { return writer.make != nullptr; }

  // False: release frees the key whoever holds it (a plain DEL). The suite then asserts exactly
  // that defect, so that it is documented rather than overlooked.
  bool release_checks_owner = true;

  // True: the lock renews itself, so that no lease expires while its session lives.
  bool renews_itself = false;

  // False: acquire starts with a request that cannot yet take the lock (BEGIN), so losing the first
  // reply may end in a refusal. Doubt is then accepted, but not required.
  bool first_request_takes = true;

  // True: the URL's hosts are independent servers, and a majority of them grants (Redlock). Some
  // are then cut off alone, and each loses its own replies.
  bool quorum = false;

  // False: a URL of this backend cannot carry user:password@.
  bool url_takes_password = true;

  // In this process, without a network: cases that need a proxy are not added, and all but the
  // threaded ones run in simulated time.
  bool in_process = false;

  duration lease = std::chrono::milliseconds{400};             // for the cases that lose one
  duration session_timeout = std::chrono::milliseconds{4000};  // requested from the server ...
  duration session_grace = std::chrono::seconds{2};  // ... which may notice dead ones this late
  duration tolerance = std::chrono::seconds{5};      // a call may outlast its deadline by this

  // How many elections the servers have held, where they elect a leader among themselves. A busy
  // machine brings some about, and calls that are under way then may end in doubt: a hammering with
  // both is repeated. Called within a test.
  std::function<std::uint64_t()> elections{};

  // The run's names still on the server, found by other means than the driver. Without it, `wipe`
  // is only checked through the driver.
  std::function<std::vector<std::string>(const std::string& target, const names& run)> leftovers{};
};

// The number of owners that may hold a key at once, with the subject's options; 0: any number.
std::uint32_t most_holders(const subject& s);

// Adds one test per case that applies: suite "redis/lua" or "redis/lua:label", test "exclusion".
// Called before RUN_ALL_TESTS().
void add(const subject& s);

// Initialises GoogleTest, calls `add_all`, and runs every case once, in one of `at_once` processes:
// most cases spend most of their time waiting for leases, deadlines and sessions to end. Returns
// the status for main(). Lines of output begin with the number of their process. Arguments or
// GTEST_ variables from the user, who is then looking for something in particular, make it one
// process. With GTEST_OUTPUT=xml:DIR/, process N writes DIR/PROGRAM-N.xml.
//
// Only for cases that leave each other's names alone: not for those that count requests of the
// whole server. REQUIRES: no threads yet, because it forks.
int run_tests(int argc, char** argv, const std::function<void()>& add_all, int at_once = 3);

// Runs one case immediately and returns its failures: for tests of the suite itself. Throws
// std::logic_error if no such case applies.
std::vector<std::string> findings(const subject& s, std::string_view case_name);

// The load of a hammering. Also for a driver's own tests.
struct hammering {
  std::uint32_t threads = 1;                 // each with its own loop
  std::uint32_t sessions = 2;                // per thread
  std::uint32_t clients = 4;                 // per session
  std::uint32_t keys = 1;                    // chosen at random
  std::uint32_t cycles = 300;                // granted, all clients together
  std::uint32_t holders = 1;                 // allowed at once; 0: any number
  duration wait = std::chrono::seconds{2};   // for one acquire
  duration limit = std::chrono::minutes{3};  // far more than a busy machine needs
};

struct damage {
  std::uint64_t granted = 0;      // successful cycles: granted and released, or committed
  std::uint64_t overlaps = 0;     // grants while the key had all its holders
  std::uint64_t tokens_fell = 0;  // grants whose fencing token was not above the key's last one
  std::uint64_t lost_holds = 0;   // releases that returned not_owner
  std::uint64_t refused = 0;      // acquires that were certainly not granted
  std::uint64_t conflicts = 0;    // optimistic: commits that were refused
  std::uint64_t doubts = 0;
};

// Clients acquire and release keys of a prepared driver until all cycles are done or the limit has
// passed. For exclusive locks, `overlaps` is the verdict. Rethrows the exceptions of calls.
damage hammer(driver& d, const lock_kind& kind, const hammering& how);

// The same with readers and writers of one run: every other session is a writer's, and each half
// does all the cycles. `overlaps` counts writers that met any holder, and readers that met a
// writer.
struct two_halves {
  driver& readers;
  const lock_kind& reader;
  driver& writers;
  const lock_kind& writer;
};
damage hammer(const two_halves& both, const hammering& how);

}  // namespace lockmark::conformance
