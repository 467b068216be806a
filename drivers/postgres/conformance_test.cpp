// The conformance suite on every PostgreSQL lock, as the ordinary user of a local topology. The
// build makes one program per topology.
#include "drivers/conformance/conformance.hpp"

#include <gtest/gtest.h>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/postgres.hpp"
#include "drivers/postgres/route.hpp"
#include "drivers/postgres/tables.hpp"
#include "harness/async/scope.hpp"
#include "harness/base/glob.hpp"
#include "harness/base/lists.hpp"

namespace lockmark::postgres {
namespace {

using namespace std::chrono_literals;

// The run's tables and sequences, and its advisory locks that somebody holds.
task<void> list_names(loop& l, route& way, names run, std::vector<std::string>& found) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, way, l.now() + 5s);
  std::string sql = fmt::format(
      "SELECT relname FROM pg_class WHERE relname LIKE 'lockmark\\_{}\\_%' UNION ALL "
      "SELECT 'advisory lock of ' || pid FROM pg_locks WHERE locktype = 'advisory' "
      "AND ((classid::bigint << 32) | objid::bigint) IN ({})",
      run.run, joined(advisory_ids(run)));
  const answer a = co_await must(c, "list names", std::move(sql), l.now() + 5s);
  for (std::size_t i = 0; i < a.rows(); ++i) found.emplace_back(a.at(i, 1).text(0));
}

std::vector<std::string> leftovers(const std::string& target, const names& run) {
  const real_clock clock;
  loop l{clock};
  route way{read_servers(target)};
  std::vector<std::string> found;
  run_to_end(l, list_names(l, way, run, found));
  return found;
}

// A lock whose acquire does not wait with this option, although its kind declares server_wait.
conformance::subject polling(conformance::subject s, const char* wait) {
  s.kind.has = s.kind.has.without(feature::server_wait | feature::fair);
  s.writer.has = s.writer.has.without(feature::server_wait | feature::fair);
  s.options["wait"] = wait;
  s.label = wait;
  return s;
}

void add_all(const std::string& topology, const std::string& target) {
  for (const lock_kind& kind : kinds()) {
    if (!matches_any(kind.topologies, topology)) continue;
    conformance::subject s{.kind = kind, .target = target};
    s.leftovers = leftovers;
    if (kind.name == "postgres/advisory_shared") s.writer = advisory();
    conformance::add(s);
    if (topology != "postgres" || !kind.has.has(feature::server_wait)) continue;
    conformance::add(polling(s, "nowait"));
    if (kind.name == "postgres/for_update") conformance::add(polling(s, "skip_locked"));
  }
}

}  // namespace
}  // namespace lockmark::postgres

int main(int argc, char** argv) {
  const std::string topology = LOCKMARK_TOPOLOGY;
  const auto servers =
      lockmark::local::cluster::start(lockmark::local::of_version_under_test(topology));
  return lockmark::conformance::run_tests(
      argc, argv, [&] { lockmark::postgres::add_all(topology, servers.target()); });
}
