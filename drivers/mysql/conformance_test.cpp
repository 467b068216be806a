// The conformance suite on every MySQL lock, as the ordinary user of a local server.
#include "drivers/conformance/conformance.hpp"

#include <gtest/gtest.h>

#include "deploy/local/cluster.hpp"
#include "drivers/mysql/connection.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;

task<void> list_tables(loop& l, endpoint where, std::string run, std::vector<std::string>& found) {
  traffic unused;
  connection c{l, where, unused};
  co_await connect_or_throw(c, where, l.now() + 5s);
  const answer a = co_await must(c, where, "list tables",
                                 "SHOW TABLES LIKE 'lockmark\\_" + run + "\\_%'", l.now() + 5s);
  for (const auto& row : a.rows) found.push_back(row[0]);
}

std::vector<std::string> leftovers(const std::string& target, const names& run) {
  const real_clock clock;
  loop l{clock};
  std::vector<std::string> found;
  run_to_end(l, list_tables(l, parse_endpoint(target), run.run, found));
  return found;
}

}  // namespace
}  // namespace lockmark::mysql

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto server = lockmark::local::cluster::start("mysql");
  for (const lockmark::lock_kind& kind : lockmark::mysql::kinds()) {
    lockmark::conformance::subject s{.kind = kind, .target = server.target()};
    // An optimistic acquire only reads: unanswered, it is certain that it took nothing.
    s.first_request_takes = !kind.has.has(lockmark::feature::optimistic);
    s.leftovers = lockmark::mysql::leftovers;
    lockmark::conformance::add(s);
  }
  return RUN_ALL_TESTS();
}
