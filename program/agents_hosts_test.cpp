// Agents on hosts of their own, whose clocks are 1,000 s apart, on links of 200 us: against real
// servers everything is as on one machine, and two holders on different hosts are found.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <memory>

#include "deploy/local/cluster.hpp"
#include "deploy/local/test_support.hpp"
#include "program/test_agents.hpp"
#include "program/test_hosts.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr duration delay = 100us;  // each way

class on_hosts : public testing::Test {
 protected:
  // The agents of this coordinator, each on a host, with links to it and to the servers.
  void start_agents(const program& coordinator, const local::cluster& servers) {
    const std::string join = address_of(coordinator);
    const auto port = static_cast<std::uint16_t>(std::stoi(join.substr(join.rfind(':') + 1)));
    for (int n = 0; n < 3; ++n) {
      test_host& host = *hosts_.emplace_back(std::make_unique<test_host>(1'000s * (n + 1)));
      host.link(port, delay);
      for (const local::server_info& s : servers.servers()) {
        host.link(static_cast<std::uint16_t>(s.port), delay);
      }
      const auto command = agent_command(dir_, join, fmt::format("host-{}", n + 1));
      agents_.push_back(std::make_unique<program>(host.run_there(command), dir_.path()));
    }
  }
  std::string what_agents_said() const {
    std::string all;
    for (const auto& a : agents_) all += a->err();
    return all;
  }
  nlohmann::json result() const { return read_json(only_folder(dir_ / "runs") / "run.json"); }

  scratch dir_;
  std::vector<std::unique_ptr<test_host>> hosts_;
  std::vector<std::unique_ptr<program>> agents_;
};

// The error that is stated covers the difference that is known here, on every host.
void expect_clocks_within_their_error(const nlohmann::json& run) {
  for (std::size_t n = 0; n < 3; ++n) {
    for (const auto& h : run["hosts"]) {
      if (h["agent"] != fmt::format("host-{}", n + 1)) continue;
      const auto& clock = h["clock"];
      const auto off_ns = clock["offset_ns"].get<std::int64_t>() -
                          static_cast<std::int64_t>(n + 1) * 1'000'000'000'000;
      EXPECT_LE(std::abs(off_ns), clock["error_max_ns"].get<std::int64_t>());
      EXPECT_EQ(clock["breaks"], 0);
      EXPECT_GE(clock["exchanges"].get<int>(), 10);
    }
  }
}

// A server, a lock, and what the server counts so often for each grant.
struct server_kind {
  const char* topology;
  const char* lock;
  const char* counter;
  int per_grant;
};
void PrintTo(const server_kind& k, std::ostream* out) {
  *out << k.lock;
}

class every_server : public on_hosts, public testing::WithParamInterface<server_kind> {};

TEST_P(every_server, is_pressed_from_three_hosts) {
  const auto servers = local::cluster::start(GetParam().topology);
  // Nobody gives up: each attempt that the server sees is a grant.
  program c = start_coordinator(dir_, servers.target(), 3,
                                {"--lock", GetParam().lock, "--set", "wait=30s"});
  start_agents(c, servers);
  const ended e = c.wait(90s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err << what_agents_said();
  const auto r = result();
  EXPECT_EQ(r["verdict"]["held"], true);
  EXPECT_GT(r["samples"].get<int>(), 50);
  EXPECT_EQ(r["hosts"].size(), 3U);
  const auto& cost = r["cost_per_acquire"];
  EXPECT_EQ(cost["server"][GetParam().counter].get<int>(),
            GetParam().per_grant * cost["grants"].get<int>());
  expect_clocks_within_their_error(r);
  for (const auto& a : agents_) EXPECT_EQ(a->wait(20s).status, 0) << a->err();
}

INSTANTIATE_TEST_SUITE_P(kinds, every_server,
                         testing::Values(server_kind{"redis", "redis/lua", "cmd.del", 1},
                                         // A node is created, and deleted.
                                         server_kind{"zookeeper", "zookeeper/sequential",
                                                     "cnt_lockmark_write_per_namespace", 2},
                                         server_kind{"mysql", "mysql/for_update", "cmd.commit",
                                                     1}));

// A lease that ends long before its hold: two hosts hold the key, and both are named.
TEST_F(on_hosts, two_holders_on_different_hosts_are_found) {
  const auto servers = local::cluster::start("redis");
  program c =
      start_coordinator(dir_, servers.target(), 3,
                        {"--lock", "redis/set_nx_px", "--hold", "60ms", "--set", "lease=20ms"});
  start_agents(c, servers);
  const ended e = c.wait(90s);
  EXPECT_EQ(e.status, 1) << e.out << e.err << what_agents_said();
  const auto r = result();
  EXPECT_EQ(r["verdict"]["held"], false);
  int across = 0;
  for (const auto& v : r["safety"]["examples"]) across += v["clock_error_ns"] > 0 ? 1 : 0;
  EXPECT_GT(across, 0);
}

// A host from which nothing comes any more, not even that its connections have ended.
TEST_F(on_hosts, a_host_that_vanishes_is_noticed_and_given_up) {
  const auto servers = local::cluster::start("redis");
  program c = start_coordinator(dir_, servers.target(), 3,
                                {"--duration", "15s", "--set", "give_up_after=60s"});
  start_agents(c, servers);
  ASSERT_TRUE(c.says("measuring", 2)) << c.err() << what_agents_said();
  hosts_[1]->vanish();
  ASSERT_TRUE(c.says("agent host-2 is silent"));
  ASSERT_TRUE(c.says("agent host-2 is lost"));
  const ended e = c.wait(60s);
  const auto r = result();
  EXPECT_EQ(r["run"]["status"], "complete") << e.err;
  EXPECT_EQ(r["verdict"]["violations"], 0) << e.out;
  EXPECT_THAT(e.out, HasSubstr("agent host-2 was lost"));
  // Nobody controls it there, so it has ended by itself, with all that it had started.
  EXPECT_EQ(agents_[1]->wait(30s).status, 2);
  EXPECT_THAT(agents_[1]->err(), Not(IsEmpty()));
}

}  // namespace
}  // namespace lockmark::cli

int main(int argc, char** argv) {
  return lockmark::cli::run_tests_on_hosts(argc, argv);
}
