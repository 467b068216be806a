// The findings on each fault: recovery, violations, those among others, theory and agreement.
#include "harness/run/fault_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t start_ns = 1'000 * ms;

// Three participants with one instance of two clients each: 0 and 1 in the first, and so on.
class findings_of_faults : public testing::Test {
 protected:
  findings_of_faults() {
    window_.start_ns.store(start_ns);
    window_.end_ns.store(start_ns + 10'000 * ms);
  }

  // A time, in milliseconds of the window.
  static std::int64_t at(std::int64_t window_ms) { return start_ns + window_ms * ms; }
  void grant(std::int64_t window_ms, std::uint32_t client) {
    found_.grant_stamps.push_back({at(window_ms), client});
  }
  void overlap(std::int64_t window_ms, std::uint32_t first, std::uint32_t second) {
    found_.overlaps.push_back({at(window_ms), first, second});
  }
  void kill(std::int64_t window_ms, std::optional<std::uint32_t> participant = 1) {
    faults::infliction i;
    i.kind = "kill_holder";
    i.text = "the holder was killed";
    i.began = from_ns(at(window_ms));
    i.lasted = 250ms;
    i.over = true;
    i.participant = participant;
    inflicted_.push_back(i);
  }
  std::vector<fault_finding> judged(const std::string& who = "holder",
                                    features lock = feature::lease) const {
    const config::job job = config::parse_job(
        "load: {instances: 3, clients: 2}\nparticipants: 3\nlease: 2s\nstop: {duration: "
        "10s}\nfaults:\n  - {do: kill, "
        "who: " +
            who + ", at: 1s}\n",
        "test.yaml");
    return judge_faults(inflicted_, found_, job, lock, window_);
  }

  findings found_;
  window window_;
  std::vector<faults::infliction> inflicted_;
};

// Killed 500 ms after its grant: the next grant comes with the rest of the lease, as predicted.
TEST_F(findings_of_faults, recovery_is_held_against_theory) {
  grant(500, 2);
  kill(1'000);
  grant(2'600, 0);
  grant(2'700, 4);
  const auto all = judged();
  ASSERT_EQ(all.size(), 1u);
  const fault_finding& f = all[0];
  EXPECT_EQ(f.kind, "kill_holder");
  EXPECT_EQ(f.text, "the holder was killed");
  EXPECT_DOUBLE_EQ(f.at_s, 1);
  EXPECT_DOUBLE_EQ(f.for_s, 0.25);
  EXPECT_EQ(f.recovery_ns, 1'600 * ms);
  ASSERT_TRUE(f.predicted);
  EXPECT_EQ(f.predicted->least, 1'500ms);
  EXPECT_EQ(f.predicted->most, 1'500ms);
  EXPECT_EQ(f.agrees, true);
}

TEST_F(findings_of_faults, a_recovery_unlike_theory_does_not_agree) {
  for (const std::int64_t next_ms : {1'100, 4'000}) {
    found_.grant_stamps.clear();
    inflicted_.clear();
    grant(500, 2);
    kill(1'000);
    grant(next_ms, 0);
    EXPECT_EQ(judged().at(0).agrees, false) << next_ms;
  }
}

// No further grant: that agrees only with a lock that nobody releases.
TEST_F(findings_of_faults, no_recovery_is_none) {
  grant(500, 2);
  kill(1'000);
  EXPECT_FALSE(judged().at(0).recovery_ns);
  EXPECT_EQ(judged().at(0).agrees, false);
  ASSERT_TRUE(judged("holder", {}).at(0).predicted);
  EXPECT_FALSE(judged("holder", {}).at(0).predicted->most);
  EXPECT_EQ(judged("holder", {}).at(0).agrees, true);
}

// Of the grants before the disruption only the last one counts: a grant to another client ended the
// victim's hold, and one to the victim's second client belongs to the victim, too.
TEST_F(findings_of_faults, only_the_last_holder_held) {
  grant(500, 2);
  grant(800, 5);
  kill(1'000);
  grant(1'050, 0);
  ASSERT_TRUE(judged().at(0).predicted);
  EXPECT_EQ(judged().at(0).predicted->most, 0s) << "the victim held nothing";
  EXPECT_EQ(judged().at(0).agrees, true);
  found_.grant_stamps[1].client = 3;  // the other client of the victim
  EXPECT_EQ(judged().at(0).predicted->most, 1'800ms);
  EXPECT_EQ(judged().at(0).agrees, false);
}

// Theory is asked about the plan that was carried out; for a server it predicts nothing here.
TEST_F(findings_of_faults, without_theory_nothing_is_predicted) {
  grant(500, 2);
  kill(1'000, std::nullopt);
  grant(2'000, 0);
  EXPECT_FALSE(judged("master").at(0).predicted);
  EXPECT_EQ(judged("master").at(0).agrees, std::nullopt);
}

// Violations belong to the last fault before them; those without the affected hold are counted
// separately. A victim granted the key afterwards counts like any other client.
TEST_F(findings_of_faults, violations_are_those_until_the_next_fault) {
  overlap(900, 0, 4);
  kill(1'000);
  overlap(1'000, 2, 4);
  overlap(1'200, 0, 3);
  overlap(1'300, 0, 4);
  kill(2'000, 0);
  overlap(2'000, 2, 4);
  overlap(2'100, 1, 4);
  overlap(12'000, 2, 5);  // after the window
  const auto all = judged();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].violations, 3u);
  EXPECT_EQ(all[0].violations_among_others, 2u);
  EXPECT_EQ(all[1].violations, 2u);
  EXPECT_EQ(all[1].violations_among_others, 1u);
}

// A paused holder resumes, frees its successor's lock, and takes it again: the overlap of the pause
// is its own, the overlap caused by its release is not.
TEST_F(findings_of_faults, a_victim_that_is_granted_anew_is_a_third_holder) {
  grant(500, 2);
  kill(1'000);
  grant(2'500, 0);
  overlap(2'500, 2, 0);
  grant(4'000, 2);
  overlap(4'000, 0, 2);
  grant(4'100, 4);
  overlap(4'100, 2, 4);
  const auto all = judged();
  EXPECT_EQ(all.at(0).violations, 3u);
  EXPECT_EQ(all.at(0).violations_among_others, 2u);
}

// A fault on a server hits no client, so all violations are among others.
TEST_F(findings_of_faults, all_are_others_where_a_server_was_hit) {
  kill(1'000, std::nullopt);
  overlap(1'500, 2, 4);
  overlap(1'600, 0, 3);
  EXPECT_EQ(judged("master").at(0).violations, 2u);
  EXPECT_EQ(judged("master").at(0).violations_among_others, 2u);
}

// After a fault on a server, answers already on their way are no recovery; after one on a client
// they are.
TEST_F(findings_of_faults, recovery_depends_on_what_was_hit) {
  kill(1'000, std::nullopt);
  grant(1'002, 0);
  grant(3'000, 0);
  EXPECT_EQ(judged("master").at(0).recovery_ns, 2'000 * ms);
  inflicted_[0].participant = 1;
  EXPECT_EQ(judged().at(0).recovery_ns, 2 * ms);
}

// Overlaps are noted in order of their ends.
TEST_F(findings_of_faults, overlaps_may_come_in_any_order) {
  kill(1'000);
  kill(2'000);
  overlap(2'500, 0, 2);
  overlap(1'500, 0, 2);
  overlap(1'600, 0, 2);
  EXPECT_EQ(judged().at(0).violations, 2u);
  EXPECT_EQ(judged().at(1).violations, 1u);
}

}  // namespace
}  // namespace lockmark::run
