// A run on a real server, checked with Prometheus's own programs: promtool parses the scraped page,
// a real Pushgateway stores the pushed one, and both agree with run.json.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <cmath>
#include <fstream>
#include <set>

#include "deploy/local/cluster.hpp"
#include "deploy/local/ports.hpp"
#include "deploy/local/test_support.hpp"
#include "harness/metrics/test_scrape.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using metrics::http_get;
using metrics::reading;
using metrics::scrape;
using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* says_where = "lockmark: metrics at http://127.0.0.1:";

int count_of(const std::string& text, std::string_view part) {
  int count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The run's last page and its folder must agree.
void expect_agreement(const scrape& page, const nlohmann::json& said) {
  for (const char* outcome : {"granted", "refused_busy", "refused_deadline", "refused_conflict",
                              "unavailable", "doubt_deadline", "doubt_lost", "in_flight_at_end"}) {
    EXPECT_EQ(page.value("lockmark_attempts_total", {{"outcome", outcome}}),
              said["counts"][outcome].get<double>())
        << outcome;
  }
  EXPECT_GT(said["counts"]["granted"], 0);
  EXPECT_EQ(page.value("lockmark_tries_total"), said["counts"]["tries"].get<double>());
  EXPECT_EQ(page.value("lockmark_violations_total", {{"kind", "certain"}}), 0);
  const auto& cost = said["cost_per_acquire"];
  EXPECT_NEAR(page.value("lockmark_client_commands_total"),
              cost["client_commands_per_grant"].get<double>() * cost["grants"].get<double>(), 0.5);
  double commands = 0;
  for (const reading& s : page.all("lockmark_server_commands_total")) commands += s.value;
  EXPECT_GE(commands, cost["server"]["commands"].get<double>());
  EXPECT_EQ(page.value("lockmark_server_commands_total", {{"command", "evalsha"}}),
            cost["server"]["cmd.evalsha"].get<double>());
  const auto& fairness = said["fairness"]["jain_windowed"];
  EXPECT_NEAR(page.value("lockmark_fairness_ratio"), fairness.get<double>(), 1e-9);
  EXPECT_EQ(page.value("lockmark_run_info", {{"run", said["run"]["id"].get<std::string>()},
                                             {"status", said["run"]["status"].get<std::string>()}}),
            1);
  for (const char* kind : {"response", "service"}) {
    for (const auto& q : said["quantiles"][kind]["quantiles"]) {
      if (!q["value_ns"].is_number()) continue;
      const double rank = std::ceil(q["q"].get<double>() * q["n"].get<double>());
      const auto [low_s, high_s] = page.around_rank(
          "lockmark_acquire_duration_seconds", {{"phase", kind}, {"outcome", "granted"}}, rank);
      const double value_s = q["value_ns"].get<double>() / 1e9;
      EXPECT_GE(value_s, low_s * 0.999) << kind << q;
      EXPECT_LE(value_s, high_s * 1.001) << kind << q;
    }
  }
}

// None of these series may decrease.
void expect_grown(const scrape& before, const scrape& after) {
  for (const reading& s : after.samples()) {
    const bool counts = s.name.starts_with("lockmark_") &&
                        (s.name.ends_with("_total") || s.name.ends_with("_bucket") ||
                         s.name.ends_with("_count") || s.name.ends_with("_sum"));
    if (!counts) continue;
    for (const reading& was : before.all(s.name, s.labels)) {
      EXPECT_GE(s.value, was.value) << s.name;
    }
  }
}

class watched : public testing::Test {
 protected:
  std::string out() const { return (dir_ / "runs").string(); }

  std::vector<std::string> on(const std::string& target, const std::vector<std::string>& options,
                              const std::string& length = "3s") const {
    std::vector<std::string> all = {"run", "contended", "--on", target, "--out", out(), "--quiet"};
    for (const std::string& set :
         {std::string("stop.samples=0"), fmt::format("stop.duration={}", length),
          fmt::format("stop.at_most={}", length), std::string("warmup=300ms"),
          std::string("floor=0s")}) {
      all.push_back("--set");
      all.push_back(set);
    }
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }

  // promtool's exit status and its output for a page.
  ended promtool(const std::string& page) const {
    std::ofstream(dir_ / "page") << page;
    const std::string tool = local::find_program("promtool", "prometheus");
    const std::string line = fmt::format("{} check metrics <{}", tool, (dir_ / "page").string());
    return program({"/bin/sh", "-c", line}, dir_.path()).wait(20s);
  }

  scratch dir_;
};

// The port of a program's endpoint.
int port_of(const program& p) {
  EXPECT_TRUE(p.says(says_where)) << p.err();
  const std::string err = p.err();
  const auto at = err.find(says_where);
  return at == err.npos ? 0 : std::atoi(err.c_str() + at + std::string_view(says_where).size());
}

bool is_over(const scrape& page) {
  const auto ended = page.all("lockmark_run_phase", {{"phase", "ended"}});
  return ended.size() == 1 && ended[0].value == 1;
}

// Scrapes until the run has ended; returns the last page.
std::string scrape_to_the_end(int port, int& pages) {
  scrape last("");
  std::string text;
  const time_point deadline = real_clock{}.now() + 60s;
  while (!is_over(last) && real_clock{}.now() < deadline) {
    poll(nullptr, 0, 100);
    std::string body = http_get(port, "/metrics");
    if (body.empty()) continue;
    const scrape page(body);
    expect_grown(last, page);
    last = page;
    text = std::move(body);
    ++pages;
  }
  EXPECT_TRUE(is_over(last)) << text;
  return text;
}

TEST_F(watched, agrees_with_what_it_writes) {
  const local::cluster redis = local::cluster::start("redis");
  program p(lockmark(on(redis.target(), {"--metrics", "127.0.0.1:0"})), dir_.path());
  const int port = port_of(p);
  int pages = 0;
  const std::string last = scrape_to_the_end(port, pages);
  const ended e = p.wait(10s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.err;
  EXPECT_GT(pages, 5);
  const scrape page(last);
  expect_agreement(page, read_json(only_folder(out()) / "run.json"));
  EXPECT_LT(page.samples().size(), 500u);
  const ended checked = promtool(last);
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out + checked.err, IsEmpty());
}

// promtool does complain about a bad page.
TEST_F(watched, is_checked_by_a_tool_that_complains) {
  const auto complaint = [this](const std::string& page) {
    const ended e = promtool(page);
    EXPECT_NE(e.status, 0);
    return e.out + e.err;
  };
  EXPECT_THAT(complaint("# HELP a_seconds words\n# TYPE a_seconds counter\na_seconds 1\n"),
              HasSubstr("_total"));
  EXPECT_THAT(complaint("# HELP a_total words\n# TYPE a_total counter\na_total one\n"),
              HasSubstr("one"));
}

// Never scraped: no waiting. Scraped once: waits, and Ctrl-C ends the wait.
TEST_F(watched, waits_for_a_last_scrape_only_where_it_is_of_use) {
  const std::vector<std::string> patient = {"--metrics", "127.0.0.1:0", "--metrics-linger", "1h"};
  const ended alone = run(dir_.path(), on("memory:", patient, "500ms"), 20s);
  EXPECT_THAT(alone.status, AnyOf(0, 3)) << alone.err;

  program p(lockmark(on("memory:", patient, "1s")), dir_.path());
  const int port = port_of(p);
  EXPECT_TRUE(local::eventually([&] { return !http_get(port, "/metrics").empty(); }));
  ASSERT_TRUE(p.says("the metrics stay for a last scrape")) << p.err();
  EXPECT_THAT(p.out(), HasSubstr("run folder: "));
  p.signal(SIGINT);
  EXPECT_THAT(p.wait(10s).status, AnyOf(0, 3));
}

class gateway {
 public:
  gateway(int port, const fs::path& where)
      : port_(port),
        process_({local::find_program("prometheus-pushgateway", "prometheus-pushgateway"),
                  fmt::format("--web.listen-address=127.0.0.1:{}", port)},
                 where) {}
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  bool answers() const {
    return local::eventually([&] { return !http_get(port_, "/-/ready").empty(); });
  }
  scrape page() const { return scrape(http_get(port_, "/metrics")); }

 private:
  int port_;
  program process_;
};

int free_port() {
  static local::port_source ports{std::nullopt};
  return ports.take("prometheus-pushgateway");
}

// The figures stay at the gateway after the run, and the next run's replace them.
TEST_F(watched, leaves_its_last_figures_at_a_gateway) {
  const local::cluster redis = local::cluster::start("redis");
  const gateway g(free_port(), dir_.path());
  ASSERT_TRUE(g.answers());
  const ended e = run(dir_.path(), on(redis.target(), {"--push", g.url()}, "2s"));
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.err;
  EXPECT_THAT(e.err, IsEmpty());
  const scrape page = g.page();
  expect_agreement(page, read_json(only_folder(out()) / "run.json"));
  EXPECT_TRUE(is_over(page));
  for (const reading& s : page.all("lockmark_tries_total")) {
    EXPECT_EQ(s.labels.at("job"), "lockmark");
    EXPECT_FALSE(s.labels.at("instance").empty());
    EXPECT_EQ(s.labels.at("backend"), "redis");
  }

  const ended next = run(dir_.path(), on("memory:", {"--push", g.url()}, "300ms"));
  EXPECT_THAT(next.status, AnyOf(0, 3)) << next.err;
  const scrape after = g.page();
  EXPECT_THAT(after.all("lockmark_tries_total", {{"backend", "redis"}}), IsEmpty());
  EXPECT_TRUE(is_over(after));
}

// A gateway that is unavailable at first: reported once, and once more when it is back.
TEST_F(watched, goes_on_until_its_gateway_is_back) {
  const int port = free_port();
  const std::string url = fmt::format("http://me:hunter2@127.0.0.1:{}", port);
  program p(lockmark(on("memory:", {"--push", url}, "20s")), dir_.path());
  EXPECT_TRUE(p.says("does not take the metrics")) << p.err();
  const gateway g(port, dir_.path());
  ASSERT_TRUE(g.answers());
  EXPECT_TRUE(p.says("takes the metrics again")) << p.err();
  p.signal(SIGINT);
  const ended e = p.wait(20s);
  EXPECT_EQ(e.status, 3) << e.err;
  EXPECT_EQ(count_of(e.err, "the Pushgateway at"), 2) << e.err;
  EXPECT_THAT(e.err,
              AllOf(HasSubstr(fmt::format("127.0.0.1:{}", port)), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(files_with(dir_ / "runs", "hunter2"), IsEmpty());
  EXPECT_TRUE(is_over(g.page()));
}

// A gateway that accepts and never answers neither ends nor delays the run.
TEST_F(watched, does_not_wait_for_a_silent_gateway) {
  const taken_port silent(true);
  const std::string url = fmt::format("http://127.0.0.1:{}", silent.number());
  const ended e = run(dir_.path(), on("memory:", {"--push", url}, "3s"), 20s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.err;
  EXPECT_EQ(count_of(e.err, "does not take the metrics"), 1) << e.err;
  EXPECT_LT(read_json(only_folder(out()) / "run.json")["run"]["window_s"], 4.5);
}

// A refusing gateway does not end the run either; its own error is shown.
TEST_F(watched, shows_why_a_gateway_refuses) {
  const gateway g(free_port(), dir_.path());
  ASSERT_TRUE(g.answers());
  const ended e = run(dir_.path(), on("memory:", {"--push", g.url() + "/elsewhere"}, "300ms"));
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.err;
  EXPECT_THAT(e.err, ContainsRegex("does not take the metrics: HTTP status 404"));
}

// Refused before anything is measured, in one sentence.
TEST_F(watched, refuses_what_it_cannot_do) {
  const taken_port taken(true);
  const std::vector<std::vector<std::string>> all = {
      {"--metrics", fmt::format("127.0.0.1:{}", taken.number())},
      {"--metrics", "nonsense"},
      {"--metrics", "192.0.2.1:9464"},  // an address of no host
      {"--push", "ftp://me:hunter2@127.0.0.1"},
      {"--push", "127.0.0.1:9091"},
      {"--metrics", "127.0.0.1:0", "--metrics-linger", "20"}};
  for (const auto& options : all) {
    for (const bool table : {false, true}) {
      std::vector<std::string> words = on("memory:", options);
      if (table) words = {"table", "--locks", "memory/*", "--out", out()};
      if (table) words.insert(words.end(), options.begin(), options.end());
      const ended e = run(dir_.path(), words, 10s);
      EXPECT_EQ(e.status, 2) << options[1];
      EXPECT_THAT(e.err, AllOf(is_one_sentence(), HasSubstr(options[options.size() - 2]),
                               Not(HasSubstr("hunter2"))));
      EXPECT_FALSE(fs::exists(out())) << options[1];
    }
  }
}

// A table shows its rows one after the other, never two at a time.
TEST_F(watched, is_a_table_row_by_row) {
  std::ofstream(dir_ / "targets.yaml") << "mem: 'memory:'\n";
  program p(lockmark({"table",
                      "--targets",
                      (dir_ / "targets.yaml").string(),
                      "--locks",
                      "memory/*lock",
                      "--scenarios",
                      "contended",
                      "--set",
                      "stop.duration=1s",
                      "--set",
                      "stop.samples=0",
                      "--set",
                      "floor=0s",
                      "--set",
                      "warmup=100ms",
                      "--out",
                      out(),
                      "--metrics",
                      "127.0.0.1:0",
                      "--metrics-linger",
                      "0s"}),
            dir_.path());
  const int port = port_of(p);
  std::set<std::string> seen;
  for (std::string body = "x"; !body.empty() || seen.empty();) {
    poll(nullptr, 0, 50);
    body = http_get(port, "/metrics");
    const auto rows = scrape(body).all("lockmark_tries_total");
    EXPECT_LE(rows.size(), 1u);
    for (const reading& s : rows) seen.insert(s.labels.at("lock"));
  }
  EXPECT_THAT(p.wait(10s).status, AnyOf(0, 3));
  EXPECT_THAT(seen, AllOf(testing::Contains("memory/lock"), testing::Contains("memory/try_lock")));
}

}  // namespace
}  // namespace lockmark::cli
