// The whole page: its contents and their order, for every kind of run; and what it never contains.
#include "harness/report/html/page.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/errors.hpp"
#include "harness/report/html/sample_runs.hpp"

namespace lockmark::report::html {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::size_t most_bytes = 3'000'000;

// Everything except styles and scripts: Chart.js contains words, too.
std::string visible_part(std::string text) {
  for (const std::string element : {"script", "style"}) {
    std::size_t begin = 0;
    while ((begin = text.find("<" + element, begin)) != std::string::npos) {
      const auto end = text.find('>', text.find("</" + element, begin)) + 1;
      text.erase(begin, end - begin);
    }
  }
  return text;
}

json data_of(const std::string& page) {
  const std::string opening = "id=report-data>";
  const auto begin = page.find(opening) + opening.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

// Each text between the two.
std::vector<std::string> between(const std::string& text, std::string_view begin,
                                 std::string_view end) {
  std::vector<std::string> found;
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    found.push_back(text.substr(at, text.find(end, at) - at));
  }
  return found;
}

std::size_t times(const std::string& text, std::string_view what) {
  return between(text, what, "").size();
}

// Elements that are closed out of order, or never.
std::vector<std::string> unbalanced(const std::string& text) {
  static const std::set<std::string> empty{"!DOCTYPE", "meta", "link", "br", "img", "input"};
  std::vector<std::string> open, wrong;
  for (const std::string& tag : between(text, "<", ">")) {
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (!name.starts_with('/')) {
      if (!empty.contains(name)) open.push_back(name);
    } else if (!open.empty() && open.back() == name.substr(1)) {
      open.pop_back();
    } else {
      wrong.push_back(name);
    }
  }
  wrong.insert(wrong.end(), open.begin(), open.end());
  return wrong;
}

// A page without errors: its elements are closed, its charts have data and numbers, it is small.
void expect_sound(const std::string& page) {
  EXPECT_LT(page.size(), most_bytes);
  const std::string visible = visible_part(page);
  EXPECT_THAT(unbalanced(visible), IsEmpty());
  std::set<std::string> with_data;
  const json data = data_of(page);
  for (const auto& [id, value] : data.items()) with_data.insert(id);
  const auto plots = between(visible, "data-chart=\"", "\"");
  EXPECT_EQ(std::set(plots.begin(), plots.end()), with_data);
  EXPECT_EQ(plots.size(), with_data.size());
  EXPECT_EQ(times(visible, "<details class=numbers"), plots.size());
}

struct pages : testing::Test {
  std::string of(const fs::path& folder) const { return page({folder}); }
  sample_folders folders_;
};

TEST_F(pages, of_one_run_have_every_section_and_the_verdict_first) {
  const std::string text = of(folders_.whole("first", faulty_run()));
  expect_sound(text);
  const std::string visible = visible_part(text);
  EXPECT_THAT(between(visible, "<h2>", "</h2>"),
              ElementsAre("Figures", "Latency", "Over time", "Outcomes", "Hand-off", "Fairness",
                          "Cost", "Safety", "The harness itself", "Provenance"));
  EXPECT_THAT(between(visible, "<h3>", "</h3>"),
              ElementsAre("Latency by percentile", "Faults and other marks", "Latency over time",
                          "Throughput over time", "How the attempts ended", "Share of each client",
                          "Cost per acquire"));
  EXPECT_LT(visible.find("The lock held"), visible.find("<h2>"));
  EXPECT_THAT(visible, AllOf(HasSubstr("No violation in 5000 requests that met a hold: with 95 % "
                                       "confidence, fewer than 1 in 1666"),
                             HasSubstr("980/s"), HasSubstr("95.0 %"), HasSubstr("&gt; 1.0 s"),
                             HasSubstr("The master was killed."), HasSubstr("20260131t090507a1"),
                             HasSubstr("server.appendfsync"), HasSubstr("redis://user:***@")));
}

TEST_F(pages, show_two_holders_before_anything_else) {
  const std::string text = visible_part(of(folders_.whole("first", violated_run())));
  EXPECT_LT(text.find("THE LOCK DID NOT HOLD"), text.find("<h2>"));
  EXPECT_THAT(text, Not(HasSubstr("The lock held")));
  EXPECT_THAT(text, AllOf(HasSubstr("Who held key 0 when"), HasSubstr("(overlaps: 1)")));
  EXPECT_THAT(text, AllOf(HasSubstr("Violations: 7"), HasSubstr("two holders for 20.000 ms"),
                          HasSubstr("instance 0 client 1: 100.000 to 140.000 ms, token 41"),
                          HasSubstr("instance 1 client 2: 120.000 to 155.000 ms, token 42"),
                          HasSubstr("left:36.36%;width:63.64%")));
  EXPECT_THAT(text, HasSubstr("No faults were injected."));
}

TEST_F(pages, name_the_fault_at_the_violation_in_the_banner) {
  run::sample_run s = violated_run();
  run::fault_finding pause;
  pause.kind = "pause_holder";
  pause.text = "the holder was paused for 8 s (participant 1)";
  pause.at_s = 0.05;
  pause.for_s = 8;
  s.r.faults = {pause};
  const std::string text = visible_part(of(folders_.whole("first", s)));
  const auto said =
      text.find("at 0.12 s, came while a fault was on (pause_holder): the holder was");
  EXPECT_LT(text.find("THE LOCK DID NOT HOLD"), said);
  EXPECT_LT(said, text.find("<h2>"));
}

TEST_F(pages, do_not_say_that_an_untested_lock_held) {
  run::sample_run s;
  s.r.found.chances = 0;
  const std::string text = visible_part(of(folders_.whole("first", s)));
  EXPECT_THAT(text, AllOf(HasSubstr("Not known whether the lock held"),
                          HasSubstr("It was not tested: no client asked for a key while")));
  EXPECT_THAT(text, Not(HasSubstr("The lock held")));
}

TEST_F(pages, explain_figures_that_are_not_simply_valid) {
  run::sample_run s;
  s.r.verdict.bound = true;
  s.r.verdict.reasons = {"a load thread used 97 % of its core (limit 80 %)"};
  const std::string bound = visible_part(of(folders_.whole("bound", s)));
  EXPECT_THAT(bound, AllOf(HasSubstr("Figures: bound."), HasSubstr("&gt;= 980"),
                           HasSubstr("<li>a load thread used 97 % of its core")));
  s.r.verdict = {};
  s.r.verdict.valid = false;
  s.r.verdict.reasons = {"debug build"};
  EXPECT_THAT(visible_part(of(folders_.whole("invalid", s))),
              AllOf(HasSubstr("Figures: INVALID."), HasSubstr("do not use them"),
                    HasSubstr("<li>debug build</li>")));
}

// Killed: no verdict, but the measurements so far.
TEST_F(pages, of_a_killed_run_show_what_was_measured) {
  const std::string text = of(folders_.killed("first", run::sample_run{}));
  expect_sound(text);
  EXPECT_THAT(visible_part(text),
              AllOf(HasSubstr("Not known whether the lock held"), HasSubstr("Figures: incomplete."),
                    HasSubstr("<td class=n>950</td>")));
  EXPECT_TRUE(data_of(text).contains("r0-heat"));
  EXPECT_TRUE(data_of(text).contains("r0-percentiles"));
}

// Names with markup in them are shown as text; in data they do not end their script.
TEST_F(pages, take_nothing_from_a_run_for_markup) {
  const std::string hostile = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>";
  run::sample_run s = violated_run();
  s.r.lock = "redis/" + hostile;
  s.r.scenario = s.r.implementation = s.r.topology = s.r.run_id = s.r.workload = hostile;
  s.r.target = s.r.why = s.r.host.host_name = hostile;
  s.r.how = run::ending::interrupted;
  s.r.preflight = s.r.arguments = {hostile};
  s.r.verdict.reasons = {hostile};
  s.r.marks = {{1, 1, hostile, hostile}};
  s.r.server = {{hostile, 5}};
  s.r.server_is = {{hostile, hostile}};
  s.r.job.options = {{hostile, hostile}};
  const fs::path one = folders_.whole("first", s), two = folders_.whole("second", s);
  for (const std::string& text : {page({one}), page({one, two})}) {
    expect_sound(text);
    EXPECT_THAT(text, Not(AnyOf(HasSubstr("<script>alert"), HasSubstr("<img"))));
    EXPECT_EQ(times(text, "<script"), 6U);
    EXPECT_THAT(text, HasSubstr("&lt;img src=x onerror=alert(2)&gt;"));
  }
}

TEST_F(pages, ask_nobody_for_anything) {
  const std::string text = page(folders_.twelve());
  for (const std::string attribute : {"src", "href", "srcset", "action", "data"}) {
    for (const std::string quote : {"", "\"", "'"}) {
      EXPECT_THAT(text, Not(HasSubstr(fmt::format(" {}={}http", attribute, quote))));
      EXPECT_THAT(text, Not(HasSubstr(fmt::format(" {}={}//", attribute, quote))));
    }
  }
  for (const char* way : {"url(", "@import", "sourceMappingURL", "XMLHttpRequest", "fetch(",
                          "WebSocket", "sendBeacon", "import("}) {
    EXPECT_THAT(text, Not(HasSubstr(way)));
  }
  EXPECT_THAT(text, HasSubstr("content=\"default-src 'none'; style-src 'unsafe-inline'; "
                              "script-src 'unsafe-inline'; img-src data:\""));
  EXPECT_THAT(text, testing::ContainsRegex("Chart.js [0-9]+[.][0-9]+[.][0-9]+, MIT licence"));
}

// Twelve: the table, then the charts they share by scenario, then each run alone.
TEST_F(pages, of_several_runs_compare_them) {
  const std::string text = page(folders_.twelve());
  expect_sound(text);
  const std::string visible = visible_part(text);
  EXPECT_LT(visible.find("1 of 12 DID NOT HOLD"), visible.find("<h2>"));
  const auto titles = between(visible, "<h2>", "</h2>");
  ASSERT_GE(titles.size(), 5U);
  EXPECT_THAT(std::vector(titles.begin(), titles.begin() + 5),
              ElementsAre("Side by side", "Charts: contended", "Charts: uncontended", "Each run",
                          "Figures"));
  EXPECT_EQ(times(visible, "<details class=run"), 12U);
  const json data = data_of(text);
  EXPECT_EQ(data["s0-percentiles"]["series"].size(), 6U + 1);
  EXPECT_EQ(data["s1-percentiles"]["series"].size(), 5U);
  EXPECT_THAT(data["s0-tps"]["states"].dump(), AllOf(HasSubstr("broken"), HasSubstr("invalid")));
  EXPECT_THAT(data["s1-tps"]["states"].dump(), HasSubstr("bound"));
  EXPECT_EQ(data["s0-fairness"]["most"], 1);
}

// The fastest first, or as given; folders may have equal names.
TEST_F(pages, rank_runs_as_tables_do) {
  run::sample_run slow, fast;
  slow.r.found.grants = 100;
  slow.r.topology = "slow";
  fast.r.topology = "fast";
  const std::vector<fs::path> given{folders_.whole("a/same", slow), folders_.whole("b/same", fast)};
  const auto places = [](const std::string& text) {
    return between(visible_part(text), "\">redis/lua on ", "</a>");
  };
  EXPECT_THAT(places(page(given)), ElementsAre("fast", "slow"));
  EXPECT_THAT(places(page(given, order::as_given)), ElementsAre("slow", "fast"));
}

// Two runs of one lock get labels that differ.
TEST_F(pages, give_runs_names_that_differ) {
  run::sample_run plain, del;
  del.r.job.options = {{"release", "del"}};
  const std::string text =
      visible_part(page({folders_.whole("first", plain), folders_.whole("second", del),
                         folders_.whole("third", del)}));
  EXPECT_THAT(between(text, "\">redis/lua on ", "</a>"),
              testing::UnorderedElementsAre("redis", "redis [release=del], second",
                                            "redis [release=del], third"));
}

TEST_F(pages, name_runs_by_settings_that_differ) {
  run::sample_run careless, careful;
  careful.r.job.holder = config::holder_kind::careful;
  careful.r.job.seed = careless.r.job.seed + 1;
  const std::string text =
      visible_part(page({folders_.whole("first", careless), folders_.whole("second", careful)}));
  EXPECT_THAT(between(text, "\">redis/lua on ", "</a>"),
              testing::UnorderedElementsAre("redis, holder: careless", "redis, holder: careful"));
}

// A schema of older minors, without marks, shares and gaps.
TEST_F(pages, of_older_runs_leave_out_what_they_lack) {
  const fs::path folder = folders_.whole("first", faulty_run());
  json content = json::parse(read_text(folder / "run.json"));
  content["schema_version"] = "1.0";
  content.erase("marks");
  content.erase("longest_gap");
  content["fairness"].erase("grants_per_client");
  content["durations"].erase("pipe");
  content["safety"].erase("holders_allowed");
  content["provenance"].erase("preflight");
  write_text(folder / "run.json", content.dump());
  const std::string text = of(folder);
  expect_sound(text);
  EXPECT_FALSE(data_of(text).contains("r0-shares"));
  EXPECT_THAT(visible_part(text), AllOf(Not(HasSubstr("Faults and other marks")),
                                        Not(HasSubstr("Longest gap")), HasSubstr("300 to 315")));
}

// run.json alone makes a report; it says what is missing.
TEST_F(pages, do_without_histograms_and_timeline) {
  const fs::path folder = folders_.whole("first", run::sample_run{});
  fs::remove(folder / "latency.hlog");
  fs::remove(folder / "timeline.jsonl");
  const std::string text = of(folder / "run.json");
  expect_sound(text);
  EXPECT_THAT(visible_part(text),
              AllOf(HasSubstr("latency.hlog is missing"), HasSubstr("timeline.jsonl is missing")));
  EXPECT_TRUE(data_of(text).contains("r0-percentiles"));
  EXPECT_FALSE(data_of(text).contains("r0-heat"));
}

TEST_F(pages, say_what_is_damaged) {
  const fs::path folder = folders_.whole("first", run::sample_run{});
  write_text(folder / "latency.hlog", read_text(folder / "latency.hlog") + "1,1,1,damaged\n");
  EXPECT_THAT(visible_part(of(folder)), HasSubstr("latency.hlog is damaged"));
  write_text(folder / "run.json", "{}");
  EXPECT_THROW(of(folder), usage_error);
}

// The page for an hour is as small as for a minute; it has the faults and both holders.
TEST_F(pages, of_an_hour_stay_small) {
  const std::string text = of(folders_.hour_long("hour"));
  expect_sound(text);
  const json data = data_of(text);
  EXPECT_LE(data["r0-heat"]["columns"].size(), 240U);
  EXPECT_LE(data["r0-shares"]["values"].size(), 100U);
  EXPECT_EQ(data["r0-heat"]["edges"].back(), 3600);
  EXPECT_THAT(data["r0-rates"]["series"][0].dump(), HasSubstr("offered"));
}

// A table of every lock on every topology has more than two hundred rows.
TEST_F(pages, of_hundreds_of_runs_stay_small) {
  const fs::path folder = folders_.whole("first", violated_run());
  const std::string text = page(std::vector<fs::path>(230, folder));
  expect_sound(text);
  EXPECT_EQ(times(text, "<details class=run"), 230U);
  EXPECT_EQ(times(text, "two holders for 20.000 ms"), 3 * 230U);
  EXPECT_THAT(text, HasSubstr("lockmark report --format html first"));
}

}  // namespace
}  // namespace lockmark::report::html
