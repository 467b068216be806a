#include "harness/metrics/exporter.hpp"

#include <curl/curl.h>
#include <fmt/core.h>

#include <thread>
#include <utility>
#include <vector>

#include "harness/base/errors.hpp"
#include "harness/config/quantity.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::metrics {
namespace {

using namespace std::chrono_literals;

constexpr duration look_every = 20ms;
// A scrape is noticed when it begins; an endpoint that closes would not finish its reply.
constexpr duration answer_within = 200ms;

// Connects and hangs up; it does not matter whether anything listens.
void connect(const std::string& url) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 curl_easy_cleanup);
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, 500L);
  curl_easy_perform(curl.get());
}

}  // namespace

exporter::exporter(const options& o, sentence_sink say) : linger_(o.linger), say_(std::move(say)) {
  std::optional<gateway> to;
  if (!o.push_url.empty()) to = parse_gateway(o.push_url);
  if (!o.listen.empty()) listen(o.listen);
  if (to) pusher_.emplace(*std::move(to), published_, say_);
}

// The endpoint checks whether to stop every two seconds, and on each new connection.
exporter::~exporter() {
  pusher_.reset();
  if (!endpoint_) return;
  std::atomic<bool> closed{false};
  std::thread waker([&] {
    const real_clock clock;
    while (!closed) {
      connect(url_);
      block_until(clock.now() + look_every);
    }
  });
  endpoint_.reset();
  closed = true;
  waker.join();
}

void exporter::listen(const std::string& text) {
  listen_address where = parse_listen(text);
  try {
    endpoint_.emplace(std::vector<std::string>{
        "listening_ports", fmt::format("{}:{}", where.host, where.port), "num_threads", "2"});
  } catch (const std::exception&) {
    // The library gives no reason.
    throw usage_error(
        "--metrics: cannot listen on {}:{}; the port is in use or not allowed, or the "
        "address is none of this machine",
        where.host, where.port);
  }
  const std::vector<int> ports = endpoint_->GetListeningPorts();
  if (!ports.empty()) where.port = ports.front();
  url_ = url_of(where);
  endpoint_->RegisterCollectable(published_);
}

void exporter::begin(const run::result& known) {
  published_->show(of_known(known));
}

void exporter::update(const run::live_view& v) {
  published_->show(of_view(v, to_ns(real_clock().now())));
}

void exporter::end(const run::result& r) {
  published_->show(of_result(r));
}

void exporter::forget() {
  published_->show(of_build());
}

void exporter::linger(const std::atomic<int>& interrupts) const {
  if (!endpoint_ || linger_ == 0s || !published_->was_scraped() || interrupts > 0) return;
  const real_clock clock;
  const time_point deadline = clock.now() + linger_;
  const auto waiting = [&] { return !published_->was_scraped_since_shown(); };
  if (waiting()) {
    say_(fmt::format("the metrics stay for a last scrape, for {} at most; Ctrl-C ends it",
                     config::print_duration(linger_)));
  }
  while (waiting() && interrupts == 0 && clock.now() < deadline) {
    block_until(clock.now() + look_every);
  }
  if (!waiting()) block_until(clock.now() + answer_within);
}

}  // namespace lockmark::metrics
