#include "harness/metrics/families.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "harness/metrics/published.hpp"
#include "harness/metrics/test_scrape.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::metrics {
namespace {

using run::counter;
using run::series;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t second = 1'000'000'000;

scrape page_of(const families& all) {
  return scrape(text_of(all));
}

run::live_view view_of(const run::result& r, run::phase now) {
  run::live_view v{.known = r, .totals = r.totals, .found = r.found, .server = r.server};
  v.now = now;
  return v;
}

std::set<std::string> series_of(const scrape& page) {
  std::set<std::string> all;
  for (const reading& s : page.samples()) {
    std::string text = s.name;
    for (const auto& [name, value] : s.labels) {
      if (name != "status") text += fmt::format(" {}={}", name, value);
    }
    all.insert(text);
  }
  return all;
}

// A finished run shows the figures of run.json.
TEST(metrics, of_a_result_agree_with_it) {
  const run::sample_run sample;
  const run::result& r = sample.r;
  const scrape page = page_of(of_result(r));
  for (std::size_t c = 0; c <= static_cast<std::size_t>(counter::in_flight_at_end); ++c) {
    EXPECT_EQ(
        page.value("lockmark_attempts_total", {{"outcome", std::string(run::counter_names[c])}}),
        static_cast<double>(r.totals.counts[static_cast<counter>(c)]));
  }
  EXPECT_EQ(page.value("lockmark_grants_total"), 4'900);
  EXPECT_EQ(page.value("lockmark_transfers_total"), 5'000);
  EXPECT_EQ(page.value("lockmark_client_commands_total"), 12'000);
  EXPECT_EQ(page.value("lockmark_client_bytes_total", {{"direction", "out"}}), 600'000);
  EXPECT_EQ(page.value("lockmark_handoff_duration_seconds_count", {{"kind", "transfer"}}), 4'000);
  EXPECT_NEAR(page.value("lockmark_handoff_duration_seconds_sum", {{"kind", "transfer"}}), 3.2,
              1e-5);
  EXPECT_NEAR(page.value("lockmark_fairness_ratio"), 1, 1e-6);
  EXPECT_EQ(page.value("lockmark_run_start_timestamp_seconds"), 1'769'850'307);
  EXPECT_EQ(page.value("lockmark_run_window_seconds"), r.window_s());
  EXPECT_NEAR(page.value("lockmark_run_figure", {{"figure", "tps"}}), r.tps(), 1e-6);
  EXPECT_NEAR(page.value("lockmark_run_figure", {{"figure", "p50"}}), 0.01003, 2e-5);
}

// 251 of 5,020 attempts were refused: they are in no finite bucket, and the rank of p99 over all
// outcomes lies beyond them all.
TEST(metrics, count_attempts_that_were_not_granted_as_later_than_every_grant) {
  run::sample_run sample;
  sample.r.totals.counts[counter::doubt_lost] = 9;
  const scrape page = page_of(of_result(sample.r));
  std::map<std::string, double> buckets;
  for (const char* phase : {"response", "service"}) {
    const auto count = [&](const char* outcome) {
      return page.value("lockmark_acquire_duration_seconds_count",
                        {{"phase", phase}, {"outcome", outcome}});
    };
    EXPECT_EQ(count("granted"), 4'769);
    EXPECT_EQ(count("refused"), 251);
    EXPECT_EQ(count("in_doubt"), 9);
    buckets.clear();
    for (const reading& b :
         page.all("lockmark_acquire_duration_seconds_bucket", {{"phase", phase}})) {
      buckets[b.labels.at("le")] += b.value;
    }
    EXPECT_EQ(buckets.at("60"), 4'769) << "what histogram_quantile sees of all outcomes";
    EXPECT_EQ(buckets.at("+Inf"), 5'029);
  }
  EXPECT_NEAR(page.value("lockmark_acquire_duration_seconds_sum",
                         {{"phase", "service"}, {"outcome", "refused"}}),
              251, 1e-6)
      << "at least the wait time-out of 1 s each";
}

// Every series of a run carries the labels that identify its configuration; none carries a key, a
// client or a run.
TEST(metrics, carry_the_labels_of_the_run) {
  const run::sample_run sample;
  const scrape page = page_of(of_result(sample.r));
  for (const reading& s : page.samples()) {
    if (s.name == "lockmark_build_info") continue;
    EXPECT_EQ(s.labels.at("backend"), "redis") << s.name;
    EXPECT_EQ(s.labels.at("lock"), "redis/lua") << s.name;
    EXPECT_EQ(s.labels.at("topology"), "redis") << s.name;
    EXPECT_EQ(s.labels.at("scenario"), "contended") << s.name;
    EXPECT_EQ(s.labels.contains("run"), s.name == "lockmark_run_info");
  }
}

// Before it counts, a run shows all the series that it shows at the end, at 0.
TEST(metrics, begin_at_0) {
  run::sample_run sample;
  sample.r.server.clear();
  const scrape before = page_of(of_known(sample.known()));
  EXPECT_EQ(series_of(before), series_of(page_of(of_result(sample.r))));
  for (const reading& s : before.samples()) {
    if (s.name.ends_with("_info") || s.name.find("_run_") != s.name.npos) continue;
    if (s.name == "lockmark_fairness_ratio") {
      EXPECT_TRUE(std::isnan(s.value));
    } else {
      EXPECT_EQ(s.value, 0) << s.name;
    }
  }
}

// Every duration is counted in its bucket and in all larger ones, as the histogram itself counts.
TEST(metrics, count_durations_in_buckets) {
  run::sample_run sample;
  stats::histogram& h = sample.r.totals[series::hold];
  h.reset();
  for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{1}, 50'000L, 50'100L, 99'000L,
                                101'000L, 29 * second, 59 * second, 61 * second}) {
    h.record(ns);
  }
  const scrape page = page_of(of_result(sample.r));
  const auto buckets = page.all("lockmark_hold_duration_seconds_bucket");
  ASSERT_THAT(buckets, SizeIs(bucket_bounds_ns.size() + 1));
  for (std::size_t i = 0; i < bucket_bounds_ns.size(); ++i) {
    EXPECT_EQ(buckets[i].value, static_cast<double>(h.count_at_or_below(bucket_bounds_ns[i])));
    EXPECT_DOUBLE_EQ(std::stod(buckets[i].labels.at("le")),
                     static_cast<double>(bucket_bounds_ns[i]) / 1e9);
  }
  EXPECT_EQ(buckets[0].value, 3);
  EXPECT_EQ(buckets[1].value, 5);
  EXPECT_EQ(buckets.back().labels.at("le"), "+Inf");
  EXPECT_EQ(buckets.back().value, 9);
  EXPECT_EQ(page.value("lockmark_hold_duration_seconds_count"), 9);
  EXPECT_NEAR(page.value("lockmark_hold_duration_seconds_sum"), 149.0003, 1e-4);
}

// A run in progress: its current state, and no verdict yet.
TEST(metrics, of_a_view_show_the_moment) {
  const run::sample_run sample;
  run::live_view v = view_of(sample.r, run::phase::measuring);
  v.in_flight = 16;
  v.holding = 3;
  v.server_silent_s = 1.5;
  const scrape page = page_of(of_view(v, sample.r.window_start_ns + second));
  EXPECT_EQ(page.value("lockmark_in_flight"), 16);
  EXPECT_EQ(page.value("lockmark_holders"), 3);
  EXPECT_EQ(page.value("lockmark_lock_waiters"), 13);
  EXPECT_EQ(page.value("lockmark_server_silent_seconds"), 1.5);
  EXPECT_EQ(page.value("lockmark_run_phase", {{"phase", "measuring"}}), 1);
  EXPECT_EQ(page.value("lockmark_run_phase", {{"phase", "ended"}}), 0);
  EXPECT_EQ(page.value("lockmark_run_validity", {{"verdict", "pending"}}), 1);
  EXPECT_EQ(page.value("lockmark_run_info", {{"status", "running"}}), 1);
  const scrape later = page_of(of_view(view_of(sample.r, run::phase::draining), 6 * second));
  EXPECT_EQ(later.value("lockmark_run_phase", {{"phase", "draining"}}), 1);
}

// The window is about to begin, has begun, is over.
TEST(metrics, know_one_phase_at_a_time) {
  const run::sample_run sample;
  run::result known = sample.known();
  known.started_wall_ns = 0;
  const auto phases = [](const families& all) {
    const scrape page = page_of(all);
    std::string on;
    for (const reading& s : page.all("lockmark_run_phase")) {
      if (s.value == 1) on += s.labels.at("phase");
    }
    return on;
  };
  EXPECT_EQ(phases(of_known(known)), "");
  EXPECT_EQ(phases(of_known(sample.known())), "measuring");
  EXPECT_EQ(phases(of_result(sample.r)), "ended");
}

// The four verdicts on the figures, and how a run ended.
TEST(metrics, say_whether_to_believe_the_figures) {
  run::sample_run sample;
  run::result& r = sample.r;
  const auto verdict = [&] {
    std::string on;
    for (const auto& s : page_of(of_result(r)).all("lockmark_run_validity")) {
      if (s.value == 1) on += s.labels.at("verdict");
    }
    return on;
  };
  EXPECT_EQ(verdict(), "valid");
  r.verdict.bound = true;
  EXPECT_EQ(verdict(), "bound");
  r.verdict.valid = false;
  EXPECT_EQ(verdict(), "invalid");
  r.how = run::ending::server_lost;
  EXPECT_EQ(page_of(of_result(r)).value("lockmark_run_info", {{"status", "server_lost"}}), 1);
}

// Each kind of mutual-exclusion violation has its own series.
TEST(metrics, count_violations_by_kind) {
  run::sample_run sample;
  sample.r.found.certain_violations = 1;
  sample.r.found.possible_violations = 2;
  sample.r.found.stale_tokens = 3;
  sample.r.found.lost_updates = 4;
  sample.r.totals.counts[counter::broken_promises] = 5;
  const scrape page = page_of(of_result(sample.r));
  double expected = 0;
  for (const char* kind : {"certain", "possible", "stale_token", "lost_update", "broken_promise"}) {
    EXPECT_EQ(page.value("lockmark_violations_total", {{"kind", kind}}), ++expected) << kind;
  }
}

// The largest commands have their names, the rest a common one; together they are the server's
// total.
TEST(metrics, name_the_largest_commands_of_the_server) {
  run::sample_run sample;
  sample.r.server = {{"commands", 1'000'000}, {"bytes", 5}};
  for (int i = 0; i < 30; ++i) {
    sample.r.server[fmt::format("cmd.c{:02}", i)] = static_cast<std::uint64_t>(100 * i);
  }
  const scrape page = page_of(of_result(sample.r));
  const auto commands = page.all("lockmark_server_commands_total");
  EXPECT_THAT(commands, SizeIs(most_commands + 1));
  EXPECT_THAT(page.all("lockmark_server_commands_total", {{"command", "c09"}}), IsEmpty());
  EXPECT_EQ(page.value("lockmark_server_commands_total", {{"command", "c10"}}), 1'000);
  double sum = 0;
  for (const reading& s : commands) sum += s.value;
  EXPECT_EQ(sum, 1'000'000);
}

// A server that counts only the total of its commands.
TEST(metrics, take_a_server_that_names_no_command) {
  run::sample_run sample;
  sample.r.server = {{"commands", 77}};
  EXPECT_EQ(
      page_of(of_result(sample.r)).value("lockmark_server_commands_total", {{"command", "other"}}),
      77);
}

// A fault is active from its beginning to its end, and inactive when the run is over.
TEST(metrics, show_faults_while_they_are_on) {
  run::sample_run sample;
  sample.r.marks = {{1, 2, "kill_master", ""}, {2, 1, "pause_holder", ""}, {4, 0, "cut", ""}};
  const auto at = [&](std::int64_t s, const char* kind) {
    const run::live_view v = view_of(sample.r, run::phase::measuring);
    return page_of(of_view(v, sample.r.window_start_ns + s * second))
        .value("lockmark_fault_active", {{"fault", kind}});
  };
  EXPECT_EQ(at(0, "kill_master"), 0);
  EXPECT_EQ(at(1, "kill_master"), 1);
  EXPECT_EQ(at(1, "pause_holder"), 0);
  EXPECT_EQ(at(2, "pause_holder"), 1);
  EXPECT_EQ(at(3, "kill_master"), 0);
  const scrape after = page_of(of_result(sample.r));
  EXPECT_EQ(after.value("lockmark_fault_active", {{"fault", "kill_master"}}), 0);
}

// What nobody injected is no fault of the job: a machine that stood still.
TEST(metrics, show_only_faults_of_the_job) {
  run::sample_run sample;
  sample.r.marks = {{1, 2, "froze", "", false}};
  EXPECT_THAT(page_of(of_result(sample.r)).all("lockmark_fault_active"), testing::IsEmpty());
}

// Under any load: 10,000 keys, 1,000 clients, every command of a server, all faults.
TEST(metrics, stay_under_500_series) {
  run::sample_run sample;
  run::result& r = sample.r;
  r.job.instances = 100;
  r.job.clients = 10;
  r.job.keys.kind = config::key_choice::shape::uniform;
  r.found.grants_by_client.assign(1'000, 7);
  for (std::uint32_t k = 0; k < 10'000; ++k) {
    stats::key_fairness key(1'000);
    for (std::uint32_t g = 0; g < 10; ++g) key.grant(r.found.fairness, (k + g) % 1'000, g, g + 1);
    key.finish(r.found.fairness);
  }
  for (int i = 0; i < 300; ++i) r.server[fmt::format("cmd.c{}", i)] = 1;
  for (int i = 0; i < 40; ++i) {
    for (const char* kind : {"pause_holder", "kill_master", "cut_replication", "stall_servers",
                             "delay_servers", "jump_clock_master", "run"}) {
      r.marks.push_back({1.0 * i, 0.5, kind, ""});
    }
  }
  const std::size_t series = page_of(of_result(r)).samples().size();
  EXPECT_GT(series, 250u);
  EXPECT_LT(series, 490u);  // the library's own are not included
}

// A user's name that is not UTF-8 does not spoil the page.
TEST(metrics, replace_what_is_not_utf8) {
  run::sample_run sample;
  sample.r.scenario = "caf\xe9 \"x\"";
  const scrape page = page_of(of_result(sample.r));
  EXPECT_EQ(page.samples().at(0).labels.at("scenario"), "caf\xef\xbf\xbd \"x\"");
}

// The next run's metrics contain nothing of the last one.
TEST(published, shows_one_run_at_a_time) {
  run::sample_run first;
  first.r.server["cmd.only_here"] = 3;
  run::result second_run = first.known();
  second_run.lock = "mysql/for_update";
  published b;
  b.show(of_result(first.r));
  EXPECT_FALSE(b.was_scraped());
  EXPECT_THAT(page_of(b.Collect()).all("lockmark_tries_total", {{"lock", "redis/lua"}}), SizeIs(1));
  b.show(of_known(second_run));
  EXPECT_TRUE(b.was_scraped());
  EXPECT_FALSE(b.was_scraped_since_shown());
  const scrape page = page_of(b.Collect());
  EXPECT_TRUE(b.was_scraped_since_shown());
  EXPECT_THAT(page.all("lockmark_tries_total", {{"lock", "mysql/for_update"}}), SizeIs(1));
  for (const reading& s : page.samples()) {
    if (s.name != "lockmark_build_info") {
      EXPECT_EQ(s.labels.at("lock"), "mysql/for_update") << s.name;
    }
  }
  const auto commands = page.all("lockmark_server_commands_total");
  ASSERT_THAT(commands, SizeIs(1));
  EXPECT_EQ(commands[0].labels.at("command"), "other");
}

}  // namespace
}  // namespace lockmark::metrics
