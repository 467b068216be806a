// Pushes the metrics on show to a Pushgateway, once a second, on a separate thread, so that nothing
// else waits for the gateway; and once more at the end, to stay there.
//
// Uses libcurl, because the Gateway of prometheus-cpp 1.0 waits without limit for a silent one.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "harness/metrics/address.hpp"
#include "harness/metrics/published.hpp"

namespace lockmark::metrics {

// Takes one sentence for the user, on any thread.
using sentence_sink = std::function<void(const std::string& sentence)>;

class pusher {
 public:
  // Reports once that a gateway refuses the metrics, and once that it takes them again.
  pusher(gateway to, std::shared_ptr<const published> shown, sentence_sink say);
  // Pushes a last time; takes at most four seconds if the gateway is silent.
  ~pusher();
  pusher(const pusher&) = delete;
  pusher& operator=(const pusher&) = delete;

 private:
  void work();
  void push_shown();
  void tell(const std::string& failure);

  gateway to_;
  std::string url_;  // of our group
  std::shared_ptr<const published> shown_;
  sentence_sink say_;
  bool failing_ = false;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace lockmark::metrics
