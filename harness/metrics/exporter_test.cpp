// The exporter on loopback sockets. The program's tests read it with Prometheus's own programs.
#include "harness/metrics/exporter.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <thread>

#include "harness/base/errors.hpp"
#include "harness/metrics/test_scrape.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::metrics {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// The messages to the user.
class told {
 public:
  sentence_sink ear() {
    return [this](const std::string& sentence) {
      const std::lock_guard guard(mutex_);
      all_.push_back(sentence);
    };
  }
  std::vector<std::string> all() const {
    const std::lock_guard guard(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

// A bound port of 127.0.0.1 that refuses connections.
class closed_port {
 public:
  closed_port() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(socket_, any, size), 0);
    EXPECT_EQ(getsockname(socket_, any, &size), 0);
    number_ = ntohs(address.sin_port);
  }
  ~closed_port() { close(socket_); }
  closed_port(const closed_port&) = delete;
  closed_port& operator=(const closed_port&) = delete;
  int number() const { return number_; }

 private:
  int socket_;
  int number_ = 0;
};

options endpoint(duration linger) {
  return {"127.0.0.1:0", "", linger};
}

int port_of(const exporter& e) {
  const std::string prefix = "http://127.0.0.1:";
  EXPECT_TRUE(e.url().starts_with(prefix)) << e.url();
  return std::stoi(e.url().substr(prefix.size()));
}

scrape scraped(const exporter& e) {
  return scrape(http_get(port_of(e), "/metrics"));
}

// A whole run as a scraper sees it; and all series together, including the library's own.
TEST(exporter, shows_a_run_from_its_beginning_to_its_end) {
  const run::sample_run sample;
  told said;
  exporter e(endpoint(0s), said.ear());
  e.begin(sample.known());
  EXPECT_EQ(scraped(e).value("lockmark_grants_total"), 0);
  run::live_view v{.known = sample.r,
                   .totals = sample.r.totals,
                   .found = sample.r.found,
                   .server = sample.r.server};
  v.now = run::phase::measuring;
  e.update(v);
  EXPECT_EQ(scraped(e).value("lockmark_run_phase", {{"phase", "measuring"}}), 1);
  e.end(sample.r);
  const scrape page = scraped(e);
  EXPECT_EQ(page.value("lockmark_run_phase", {{"phase", "ended"}}), 1);
  EXPECT_EQ(page.value("lockmark_grants_total"), 4'900);
  EXPECT_LT(page.samples().size(), 500u);
  e.end(sample.r);
  e.linger(std::atomic<int>{0});  // for no time at all
  e.forget();
  EXPECT_THAT(scraped(e).all("lockmark_grants_total"), IsEmpty());
  EXPECT_THAT(scraped(e).all("lockmark_build_info"), SizeIs(1));
  EXPECT_THAT(said.all(), IsEmpty());
}

// One sentence that names the address.
TEST(exporter, refuses_a_port_that_is_taken) {
  told said;
  const exporter first(endpoint(0s), said.ear());
  const std::string place = fmt::format("127.0.0.1:{}", port_of(first));
  try {
    const exporter second({place, "", 0s}, said.ear());
    FAIL() << "two on one port";
  } catch (const usage_error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("--metrics"), HasSubstr(place), HasSubstr("in use")));
  }
}

// Each of these calls would take an hour if it waited.
TEST(exporter, waits_for_no_scrape_that_nobody_will_make) {
  const run::sample_run sample;
  const std::atomic<int> none{0}, one{1};
  told said;
  exporter e(endpoint(1h), said.ear());
  e.begin(sample.known());
  e.end(sample.r);
  e.linger(none);  // was never scraped
  scraped(e);
  e.linger(none);  // has the final figures
  e.end(sample.r);
  e.linger(one);  // was interrupted
  EXPECT_THAT(said.all(), IsEmpty());
}

// A scraper that has scraped the run gets the final figures, and then waiting ends; so does an
// interrupt end it.
TEST(exporter, waits_for_the_last_scrape) {
  const run::sample_run sample;
  std::atomic<int> interrupts{0};
  told said;
  exporter e(endpoint(1h), said.ear());
  e.begin(sample.known());
  scraped(e);
  e.end(sample.r);
  std::thread scraper([&] {
    while (said.all().empty()) std::this_thread::yield();
    EXPECT_EQ(scraped(e).value("lockmark_grants_total"), 4'900);
  });
  e.linger(interrupts);
  scraper.join();
  EXPECT_THAT(said.all(), ElementsAre(HasSubstr("last scrape, for 1h at most")));

  e.end(sample.r);
  std::thread user([&] {
    while (said.all().size() < 2) std::this_thread::yield();
    interrupts = 1;
  });
  e.linger(interrupts);
  user.join();
}

// A missing gateway is reported once, however often a push is tried, without the password.
TEST(exporter, tells_of_a_dead_gateway_once) {
  const run::sample_run sample;
  const closed_port port;
  told said;
  {
    exporter e({"", fmt::format("http://me:s3cret@127.0.0.1:{}", port.number()), 0s}, said.ear());
    EXPECT_EQ(e.url(), "");
    e.begin(sample.known());
    while (said.all().empty()) std::this_thread::yield();
    e.end(sample.r);
  }
  EXPECT_THAT(said.all(), ElementsAre(AllOf(HasSubstr(fmt::format("127.0.0.1:{}", port.number())),
                                            HasSubstr("the run goes on"), Not(HasSubstr("me:")),
                                            Not(HasSubstr("s3cret")))));
}

}  // namespace
}  // namespace lockmark::metrics
