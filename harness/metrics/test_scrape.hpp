// Test helpers: a page of metrics as a scraper reads it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/metrics/families.hpp"

namespace lockmark::metrics {

using label_values = std::map<std::string, std::string>;

struct reading {
  std::string name;
  label_values labels;
  double value = 0;
};

class scrape {
 public:
  // Parses the text format; a malformed line fails the test.
  explicit scrape(const std::string& text);

  const std::vector<reading>& samples() const { return samples_; }
  // Samples of this name whose labels include these.
  std::vector<reading> all(const std::string& name, const label_values& labels = {}) const;
  // The value of the only such sample; NaN and a test failure unless there is exactly one.
  double value(const std::string& name, const label_values& labels = {}) const;
  // The bounds, in seconds, of the histogram bucket with the rank-th smallest value.
  std::pair<double, double> around_rank(const std::string& name, const label_values& labels,
                                        double rank) const;

 private:
  std::vector<reading> samples_;
};

// The text that scrapers get.
std::string text_of(const families& all);

// The reply of 127.0.0.1. HTTP/1.0, so that it ends with the connection and is not chunked.
struct answer {
  int status = 0;  // 0: no reply
  std::string body;
};
answer http_ask(int port, const std::string& path);

// Its body; empty if there is none, or its status is not 200.
std::string http_get(int port, const std::string& path);

}  // namespace lockmark::metrics
