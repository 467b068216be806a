#include "harness/metrics/pusher.hpp"

#include <curl/curl.h>
#include <fmt/core.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/run/host.hpp"

namespace lockmark::metrics {
namespace {

using namespace std::chrono_literals;

constexpr duration push_every = 1s;
constexpr long push_within_ms = 2'000;
constexpr std::size_t longest_answer = 200;

// The gateway groups pushed metrics by the names in the path.
std::string group_url(const gateway& to) {
  const std::string host = run::describe_host().host_name;
  char* const escaped = curl_easy_escape(nullptr, host.c_str(), static_cast<int>(host.size()));
  std::string url = fmt::format("{}/metrics/job/lockmark", to.url);
  if (escaped != nullptr && *escaped != '\0') url += fmt::format("/instance/{}", escaped);
  curl_free(escaped);
  return url;
}

// Keeps the beginning of the reply, which is the text of an error.
std::size_t keep_answer(char* bytes, std::size_t, std::size_t size, void* into) {
  auto& answer = *static_cast<std::string*>(into);
  answer.append(bytes, std::min(size, longest_answer - std::min(longest_answer, answer.size())));
  return size;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

// Replaces the group by the text. Returns why the gateway refused it; empty: it did not.
std::string put(const std::string& url, const gateway& to, const std::string& text) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 curl_easy_cleanup);
  curl_slist* list = curl_slist_append(nullptr, "Content-Type: text/plain; version=0.0.4");
  list = curl_slist_append(list, "Expect:");
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list,
                                                                            curl_slist_free_all);
  char error[CURL_ERROR_SIZE] = "";
  std::string answer;
  CURL* const c = curl.get();
  curl_easy_setopt(c, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, push_within_ms);
  curl_easy_setopt(c, CURLOPT_URL, url.c_str());
  curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, "PUT");
  curl_easy_setopt(c, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE, static_cast<long>(text.size()));
  curl_easy_setopt(c, CURLOPT_POSTFIELDS, text.data());
  curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, keep_answer);
  curl_easy_setopt(c, CURLOPT_WRITEDATA, &answer);
  if (!to.user.empty() || !to.password.empty()) {
    curl_easy_setopt(c, CURLOPT_USERNAME, to.user.c_str());
    curl_easy_setopt(c, CURLOPT_PASSWORD, to.password.c_str());
  }
  const CURLcode code = curl_easy_perform(c);
  if (code != CURLE_OK) return *error != '\0' ? error : curl_easy_strerror(code);
  long status = 0;
  curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
  if (status / 100 == 2) return {};
  return fmt::format("HTTP status {}, {}", status, first_line(answer));
}

}  // namespace

pusher::pusher(gateway to, std::shared_ptr<const published> shown, sentence_sink say)
    : to_(std::move(to)), url_(group_url(to_)), shown_(std::move(shown)), say_(std::move(say)) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  thread_ = std::thread([this] { work(); });
}

pusher::~pusher() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
  curl_global_cleanup();
}

void pusher::work() {
  const real_clock clock;
  time_point next = clock.now();
  for (bool last = false; !last;) {
    {
      std::unique_lock lock(mutex_);
      last = wake_.wait_until(lock, next, [this] { return closing_; });
    }
    push_shown();
    next = std::max(next + push_every, clock.now());
  }
}

// Does not push an empty page, so that a run that never began leaves the last run's metrics in
// place.
void pusher::push_shown() {
  const auto now = shown_->shown();
  if (now->empty()) return;
  tell(put(url_, to_, prometheus::TextSerializer().Serialize(*now)));
}

void pusher::tell(const std::string& failure) {
  if (failure.empty() == !failing_) return;
  failing_ = !failing_;
  if (failing_) {
    say_(fmt::format("the Pushgateway at {} does not take the metrics: {}; the run goes on",
                     to_.url, failure));
  } else {
    say_(fmt::format("the Pushgateway at {} takes the metrics again", to_.url));
  }
}

}  // namespace lockmark::metrics
