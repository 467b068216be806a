// The conformance suite on every MySQL lock, as the ordinary user of a local topology. The build
// makes one program per topology.
#include "drivers/conformance/conformance.hpp"

#include <gtest/gtest.h>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/route.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;

task<void> list_tables(loop& l, route& way, std::string run, std::vector<std::string>& found) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, way, l.now() + 5s);
  const answer a = co_await must(c, "list tables", "SHOW TABLES LIKE 'lockmark\\_" + run + "\\_%'",
                                 l.now() + 5s);
  for (std::size_t i = 0; i < a.rows(); ++i) found.emplace_back(a.at(i).text(0));
}

std::vector<std::string> leftovers(const std::string& target, const names& run) {
  const real_clock clock;
  loop l{clock};
  route way{read_servers(target)};
  std::vector<std::string> found;
  run_to_end(l, list_tables(l, way, run.run, found));
  return found;
}

conformance::subject subject_of(const lock_kind& kind, const std::string& target) {
  conformance::subject s{.kind = kind, .target = target};
  // An optimistic acquire only reads: unanswered, it has certainly taken nothing.
  s.first_request_takes = !kind.has.has(feature::optimistic);
  // Anybody may delete the row.
  s.release_checks_owner = kind.name != "mysql/unique_key";
  s.leftovers = leftovers;
  return s;
}

// A lock whose acquire does not wait with this option, although its kind declares server_wait.
conformance::subject polling(conformance::subject s, const char* wait) {
  s.kind.has = s.kind.has.without(feature::server_wait);
  s.options["wait"] = wait;
  s.label = wait;
  return s;
}

conformance::subject with(conformance::subject s, const char* option, const char* value) {
  s.options[option] = value;
  s.label = value;
  return s;
}

void add_all(const std::string& topology, const std::string& target) {
  for (const lock_kind& kind : kinds()) {
    const conformance::subject s = subject_of(kind, target);
    conformance::add(s);
    if (topology != "mysql") continue;
    if (kind.name == "mysql/for_update") {
      conformance::add(polling(s, "nowait"));
      conformance::add(polling(s, "skip_locked"));
    }
    if (kind.name == "mysql/unique_key") conformance::add(with(s, "key", "secondary"));
    if (kind.name == "mysql/optimistic_version") conformance::add(with(s, "first", "insert"));
    if (kind.name == "mysql/shedlock") {
      conformance::subject by_client = s;
      by_client.options["time"] = "client";
      by_client.label = "client";
      conformance::add(by_client);
    }
  }
}

}  // namespace
}  // namespace lockmark::mysql

int main(int argc, char** argv) {
  const std::string topology = LOCKMARK_TOPOLOGY;
  const auto servers =
      lockmark::local::cluster::start(lockmark::local::of_version_under_test(topology));
  return lockmark::conformance::run_tests(
      argc, argv, [&] { lockmark::mysql::add_all(topology, servers.target()); });
}
