// One run as text for a person.
#include "harness/report/run_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "harness/base/errors.hpp"
#include "harness/report/row.hpp"
#include "harness/run/result_json.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string summary(const run::result& r, std::size_t width = 200) {
  return run_summary_terminal({"first", run::to_json(r)}, width);
}

// Verdict, figures of every kind, and the harness's own.
TEST(run_text, complete_run) {
  const std::string text = summary(run::sample_run{}.r);
  for (const char* part :
       {"redis/lua, contended on redis://user:***@localhost:6379/0\n",
        "verdict    held: no violation in 5000 requests that met a hold (so, with 95 % confidence, "
        "fewer than 1 in 1666)",
        "figures    valid\n", "95.0 % of 5020 attempts; 251 refused_deadline",
        "rate       980 grants/s over 5.00 s", "p90 18.0 ms", "p99 > 1.0 s", "transfer p50 800 us",
        "(4000)", "Jain 1.00 in short windows", "2.00 commands, 2.00 round",
        "timer lag p99 30.0 us", "without a lock 2000000 cycles/s"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("p99.99")));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 15);
}

// Where the first lines scroll away, the verdict is still to be seen.
TEST(run_text, ends_with_the_verdict) {
  run::sample_run s;
  EXPECT_THAT(summary(s.r, 1000), testing::ContainsRegex("\nverdict    held: [^\n]*\n$"));
  s.r.found.certain_violations = 1;
  s.r.found.violations.assign(1, run::sample_violation(s.r));
  const std::string text = summary(s.r, 1000);
  EXPECT_THAT(text, testing::ContainsRegex("\nverdict    NOT HELD: 1 violation\n$"));
  EXPECT_THAT(text, HasSubstr("(times since the measurement began)"));
}

// A time before the measurement needs a word.
TEST(run_text, says_what_was_in_the_warm_up) {
  run::sample_run s;
  s.r.found.certain_violations = 1;
  s.r.found.violations.assign(1, run::sample_violation(s.r));
  s.r.found.violations[0].second.granted_ns = -1'000'000'000'000;
  EXPECT_THAT(summary(s.r, 1000), HasSubstr("negative ones are in the warm-up)"));
}

// "Fewer than 1 in 1" would say nothing.
TEST(run_text, says_nothing_of_how_rare_a_violation_is_after_a_few_chances) {
  run::sample_run s;
  s.r.found.chances = 5;
  EXPECT_THAT(summary(s.r),
              HasSubstr("verdict    held: no violation in 5 requests that met a hold, too few to "
                        "say how rare one is\n"));
  s.r.found.chances = 6;
  EXPECT_THAT(summary(s.r), HasSubstr("fewer than 1 in 2)"));
}

// No client was granted or refused the lock.
TEST(run_text, without_an_answer_of_the_lock_has_no_verdict) {
  run::sample_run s;
  s.r.grants_in_all = 0;
  const run::result none;
  s.r.totals = none.totals;
  s.r.totals.counts[run::counter::doubt_deadline] = 12;
  s.r.verdict.valid = false;
  s.r.verdict.reasons = {"nothing was measured"};
  const std::string text = summary(s.r);
  EXPECT_THAT(text,
              HasSubstr("verdict    not tested: nothing was measured: not one of 12 attempts"));
  EXPECT_THAT(text, HasSubstr("figures    INVALID"));
}

// Never "held", no bound, and no reason against the figures.
TEST(run_text, without_a_chance_to_see_a_violation_has_no_verdict) {
  run::sample_run s;
  s.r.found.chances = s.r.found.lasting_holds = 0;
  const std::string text = summary(s.r);
  EXPECT_THAT(text, HasSubstr("verdict    not tested: every hold was over before another client's "
                              "answer could be read (hold: 0s)\n"));
  EXPECT_THAT(text, HasSubstr("figures    valid\nsafety"));
  EXPECT_THAT(text, Not(HasSubstr("fewer than 1 in")));
}

// Beside the figures that look good, without a doubt about them.
TEST(run_text, names_starving_clients) {
  run::sample_run s;
  EXPECT_THAT(summary(s.r),
              HasSubstr("worst client 90.0 % granted, highest p99 of a client > 1.0 s"));
  s.r.found.clients.never_granted = 3;
  const std::string text = summary(s.r);
  EXPECT_THAT(
      text,
      HasSubstr(
          "figures    valid\n"
          "           - starvation: of 16 clients, 3 never got the lock during the measurement\n"));
  const recorded_run run{"first", run::to_json(s.r)};
  EXPECT_THAT(run_markdown(run), HasSubstr("of 16 clients, 3 never got the lock"));
  const row r = row_of(run);
  EXPECT_TRUE(r.valid);
  EXPECT_EQ(text_of(r.reasons.at(0), language::chinese),
            "饥饿：16 个客户端中有 3 个在测量期间从未获得锁");
}

// No line is wider than the terminal.
TEST(run_text, fits_the_terminal) {
  std::istringstream lines(summary(run::sample_run{}.r, 80));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

// Two holders: both by name, the key, both intervals.
TEST(run_text, violation) {
  run::sample_run s;
  s.r.found.certain_violations = 7;
  s.r.found.violations.assign(5, run::sample_violation(s.r));
  const std::string text = summary(s.r);
  EXPECT_THAT(text, HasSubstr("NOT HELD: 7 violations"));
  EXPECT_THAT(text,
              HasSubstr("key 0: instance 0 client 1 held it from 100.000 to 140.000 ms, "
                        "instance 1 client 2 held it from 120.000 to 155.000 ms: 20.000 ms at "
                        "the same time\n"));
  EXPECT_THAT(text, HasSubstr("7 certain violations"));
}

// INVALID before any figure, with its reasons.
TEST(run_text, invalid_run) {
  run::sample_run s;
  s.r.verdict.valid = false;
  s.r.verdict.reasons = {"debug build"};
  const std::string text = summary(s.r);
  EXPECT_THAT(text, HasSubstr("figures    INVALID"));
  EXPECT_LT(text.find("- debug build"), text.find("980"));
}

// Bounds: at least this fast, at most this slow.
TEST(run_text, bound_run) {
  run::sample_run s;
  s.r.verdict.bound = true;
  const std::string text = summary(s.r);
  EXPECT_THAT(text, AllOf(HasSubstr(">= 980 grants/s"), HasSubstr("p90 <= 18.0 ms"),
                          HasSubstr("p99 > 1.0 s")));
}

// The text for a killed run says only that.
TEST(run_text, killed_run) {
  const std::string text =
      run_summary_terminal({"first", run::to_json_while_running(run::sample_run{}.known())});
  EXPECT_THAT(text,
              AllOf(HasSubstr("unknown: incomplete: the run has not ended yet, or was killed"),
                    HasSubstr("INCOMPLETE"), HasSubstr("no attempts")));
}

// An optimistic lock: lost updates, commits, no hand-off.
TEST(run_text, optimistic_lock) {
  run::sample_run s;
  s.r.lock_has = feature::optimistic;
  s.r.found.lost_updates = 2;
  const std::string text = summary(s.r);
  EXPECT_THAT(text, AllOf(HasSubstr("NOT HELD: 2 violations\n"), HasSubstr("2 lost updates"),
                          HasSubstr("is not handed over")));
}

// Markdown: the verdict first, quantiles with intervals, provenance folded away, short.
TEST(run_text, markdown) {
  const std::string text = run_markdown({"first", run::to_json(run::sample_run{}.r)});
  EXPECT_THAT(text, testing::StartsWith("### redis/lua, contended on redis://user:***@"));
  EXPECT_LT(text.find("**verdict**: held"), text.find("| acquire | n | p50"));
  EXPECT_THAT(text, HasSubstr("| response | 5020 | 10.0 ms ("));
  EXPECT_THAT(text, HasSubstr("- server.appendfsync: everysec\n"));
  EXPECT_THAT(text, HasSubstr("- host cpu_model: unknown\n"));
  EXPECT_THAT(text, HasSubstr("<details>"));
  EXPECT_LT(text.size(), 60'000U);
}

// It is unknown whether the lock held, and no reason is given.
TEST(run_text, unknown_without_a_reason) {
  nlohmann::ordered_json content = run::to_json(run::sample_run{}.r);
  content["verdict"]["held"] = nullptr;
  content["verdict"]["reasons"] = nlohmann::ordered_json::array();
  EXPECT_EQ(verdict_sentence({"first", content}), "unknown");
}

// A missing key is a usage error that names the run.
TEST(run_text, damaged_run) {
  nlohmann::ordered_json content = run::to_json(run::sample_run{}.r);
  content.erase("durations");
  EXPECT_THROW(run_summary_terminal({"first", content}), usage_error);
  EXPECT_THROW(run_markdown({"first", content}), usage_error);
}

}  // namespace
}  // namespace lockmark::report
