// Runs whose load comes from agents: what is measured, and who is let in. Here agents are on this
// machine; on hosts of their own they are in agents_hosts_test, and what happens when one is
// killed, stopped or cut off is in agents_lost_test.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "harness/agents/agent.hpp"
#include "program/agents_fixture.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class agents : public agents_fixture {};

// The script of each release deletes its key, which the server counts: as many as were granted.
TEST_F(agents, every_grant_that_the_server_counted_is_in_the_result) {
  program c = coordinator(
      3, {"--lock", "redis/lua", "--set", "load.instances=6", "--set", "participants=6"});
  const program one = agent(c, "one"), two = agent(c, "two"), three = agent(c, "three");
  const ended e = c.wait(60s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;  // a busy machine's figures are not valid
  const auto r = result();
  EXPECT_EQ(r["verdict"]["held"], true);
  EXPECT_EQ(r["harness"]["participants"], 6);
  EXPECT_GT(r["cost_per_acquire"]["grants"].get<int>(), 50);
  EXPECT_EQ(r["cost_per_acquire"]["grants"], r["cost_per_acquire"]["server"]["cmd.del"]);
  std::vector<std::vector<int>> shares;
  for (const auto& h : r["hosts"]) {
    shares.push_back(h["participants"]);
    EXPECT_GT(h["clock"]["exchanges"].get<int>(), 10);
    EXPECT_EQ(h["late_ns"], 0);
    EXPECT_LT(std::abs(h["clock"]["offset_ns"].get<std::int64_t>()),
              h["clock"]["error_max_ns"].get<std::int64_t>());
  }
  EXPECT_THAT(shares, ElementsAre(ElementsAre(0, 3), ElementsAre(1, 4), ElementsAre(2, 5)));
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(agents, a_table_has_one_set_of_them_for_all_its_runs) {
  program c(lockmark({"table",
                      "--on",
                      servers->target(),
                      "--locks",
                      "redis/lua",
                      "--scenarios",
                      "contended",
                      "--repeats",
                      "2",
                      "--out",
                      (dir_ / "runs").string(),
                      "--agents",
                      "2",
                      "--invitation",
                      (dir_ / "invitation").string(),
                      "--set",
                      "floor=0s",
                      "--set",
                      "warmup=200ms",
                      "--set",
                      "stop.samples=0",
                      "--set",
                      "stop.owner_changes=0",
                      "--set",
                      "stop.duration=1s",
                      "--set",
                      "stop.at_most=1s"}),
            dir_.path());
  program one = agent(c, "one"), two = agent(c, "two");
  const ended e = c.wait(60s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;  // a busy machine's figures are not valid
  EXPECT_THAT(e.out, HasSubstr("redis/lua"));
  EXPECT_EQ(one.wait(10s).status, 0);
  EXPECT_EQ(two.wait(10s).status, 0);
}

// Each run of a gate is a lockmark of its own, and so a coordinator: one command more is seen.
TEST_F(agents, a_gate_starts_them_anew_for_each_run) {
  const std::string launch =
      fmt::format("'{}' agent --keep '{}'", LOCKMARK_BINARY, (dir_ / "parts").string());
  std::vector<std::string> words{"gate",
                                 "uncontended",
                                 "--on",
                                 servers->target(),
                                 "--set",
                                 "lock=redis/set_nx_px",
                                 "--quick",
                                 "--candidate",
                                 "options.release=compare_then_del",
                                 "--out",
                                 (dir_ / "runs").string(),
                                 "--agents",
                                 "1"};
  const ended by_hand = run(dir_.path(), words);
  EXPECT_EQ(by_hand.status, 2);
  EXPECT_THAT(by_hand.err, AllOf(is_one_sentence(), HasSubstr("--hosts or --launch")));
  words.insert(words.end(), {"--launch", launch});
  const ended e = run(dir_.path(), words, 120s);
  // A busy machine's runs are of no use for a verdict, but have been made.
  EXPECT_THAT(e.status, AnyOf(1, 3)) << e.out << e.err;
  EXPECT_THAT(e.out, HasSubstr(e.status == 1 ? "REGRESSION" : "INCONCLUSIVE"));
  std::size_t runs = 0;
  for (const auto& each :
       std::filesystem::recursive_directory_iterator(only_folder(dir_ / "runs"))) {
    if (each.path().filename() != "run.json") continue;
    ++runs;
    EXPECT_EQ(read_json(each.path())["hosts"].size(), 1U) << each.path();
  }
  EXPECT_GE(runs, 2U);
}

TEST_F(agents, too_few_are_waited_for_and_counted) {
  program c = coordinator(2, {"--agents-within", "1s"});
  program one = agent(c, "one");
  const ended e = c.wait(20s);
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, HasSubstr("1 of 2 agents joined"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "runs"));
  EXPECT_THAT(one.wait(10s).status, AnyOf(0, 2));
}

TEST_F(agents, whoever_has_another_invitation_is_refused) {
  program c = coordinator(1, {"--agents-within", "6s"});
  program other = start_coordinator(dir_, servers->target(), 1, {"--agents-within", "6s"}, "other");
  const std::string join = address_of(c), to_other = (dir_ / "other").string();
  ASSERT_TRUE(other.says("on each machine"));
  // The certificate is another one's, so that it does not even get to show its token.
  const ended stranger =
      run(dir_.path(), {"agent", "--join", join, "--invitation", to_other, "--within", "2s"});
  EXPECT_EQ(stranger.status, 2);
  EXPECT_THAT(stranger.err, HasSubstr("it is not the one of the invitation"));
  // The right certificate, and a token that was made up.
  std::string word = read_text(dir_ / "invitation");
  const auto digit = word.find('.') + 1;
  word[digit] = word[digit] == '0' ? '1' : '0';
  std::ofstream(dir_ / "forged") << word;
  const ended forger = run(dir_.path(), {"agent", "--join", join, "--invitation",
                                         (dir_ / "forged").string(), "--name", "forger"});
  EXPECT_EQ(forger.status, 2);
  EXPECT_THAT(forger.err, is_one_sentence());
  EXPECT_THAT(forger.err, HasSubstr("its token is not that of this run"));
  const ended e = c.wait(20s);
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, HasSubstr("0 of 1 agents joined"));
  EXPECT_THAT(e.err, HasSubstr("forger was refused"));
}

// As an agent of another build says hello.
TEST_F(agents, another_version_is_refused) {
  program c = coordinator(1, {"--agents-within", "3s"});
  lockmark::agents::agent_setup other;
  other.join = address_of(c);
  other.guests = lockmark::agents::read_invitation(read_text(dir_ / "invitation"));
  other.name = "old";
  other.build = "lockmark 0.0.1 (0123456789ab)";
  other.within = 10s;
  std::string why;
  try {
    be_agent(real_clock{}, other);
  } catch (const usage_error& e) {
    why = e.what();
  }
  EXPECT_THAT(why, HasSubstr("it is lockmark 0.0.1 (0123456789ab), and this is lockmark "));
  EXPECT_THAT(why, HasSubstr("all machines need the same build"));
  const ended e = c.wait(20s);
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, HasSubstr("0 of 1 agents joined"));
  EXPECT_THAT(e.err, HasSubstr("old was refused: it is lockmark 0.0.1"));
}

// Whoever does not speak TLS is hung up on, and the others come in.
TEST_F(agents, who_speaks_without_tls_is_hung_up_on) {
  program c = coordinator(1);
  const std::string join = address_of(c);
  const std::string said =
      output_of({"timeout", "10", "bash", "-c",
                 fmt::format("exec 3<>/dev/tcp/127.0.0.1/{}; printf 'PRI * HTTP/2.0\\r\\n\\r\\n' "
                             ">&3; cat <&3 >/dev/null; echo closed",
                             join.substr(join.rfind(':') + 1))},
                dir_.path());
  EXPECT_THAT(said, HasSubstr("closed"));
  const program one = agent(c, "one");
  EXPECT_THAT(c.wait(60s).status, AnyOf(0, 3)) << c.err();
}

TEST_F(agents, one_name_joins_once) {
  program c = coordinator(2);
  program one = agent(c, "one");
  ASSERT_TRUE(one.says("joined"));
  program again = agent(c, "one");
  const ended refused = again.wait(20s);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("there is an agent one already; --name tells them apart"));
  program two = agent(c, "two");
  EXPECT_THAT(c.wait(60s).status, AnyOf(0, 3)) << c.err();
}

TEST_F(agents, an_agent_says_what_it_lacks) {
  const auto says = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "agent");
    const ended e = run(dir_.path(), words);
    EXPECT_EQ(e.status, 2);
    EXPECT_THAT(e.err, is_one_sentence());
    return e.err;
  };
  std::ofstream(dir_ / "nonsense") << "hunter2";
  EXPECT_THAT(says({}), HasSubstr("--join"));
  EXPECT_THAT(says({"--join", "127.0.0.1:9"}), HasSubstr("--invitation"));
  const std::string wrong = says({"--join", "127.0.0.1:9", "--invitation", dir_ / "nonsense"});
  EXPECT_THAT(wrong, HasSubstr("not an invitation"));
  EXPECT_THAT(wrong, Not(HasSubstr("hunter2")));
}

TEST_F(agents, a_coordinator_says_what_it_cannot) {
  const auto says = [&](std::vector<std::string> more) {
    std::vector<std::string> words{
        "run", "contended", "--on", servers->target(), "--out", (dir_ / "runs").string()};
    words.insert(words.end(), more.begin(), more.end());
    const ended e = run(dir_.path(), words);
    EXPECT_EQ(e.status, 2);
    EXPECT_THAT(e.err, is_one_sentence());
    return e.err;
  };
  EXPECT_THAT(says({"--listen", "127.0.0.1:0"}), HasSubstr("--agents N"));
  EXPECT_THAT(says({"--agents", "1", "--listen", "7070"}), HasSubstr("ADDRESS:PORT"));
  EXPECT_THAT(says({"--agents", "1", "--listen", "192.0.2.1:7070"}),
              HasSubstr("cannot listen on 192.0.2.1:7070"));
  EXPECT_THAT(says({"--hosts", "a,b"}), HasSubstr("--listen ADDRESS:0"));
  EXPECT_THAT(says({"--agents", "1", "--launch", "sh -c 'exit 3'"}),
              HasSubstr("; sh *** ended with exit status 3"));
}

}  // namespace
}  // namespace lockmark::cli
