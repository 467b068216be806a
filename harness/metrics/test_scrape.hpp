// What the tests share: a page of metrics as whoever scrapes it reads it.
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
  // The text format; a line that is none of it is a failure of the test.
  explicit scrape(const std::string& text);

  const std::vector<reading>& samples() const { return samples_; }
  // Those of this name that have these labels among theirs.
  std::vector<reading> all(const std::string& name, const label_values& labels = {}) const;
  // The value of the only one; not a number, and a failure, unless there is exactly one.
  double value(const std::string& name, const label_values& labels = {}) const;
  // The bounds, in seconds, between which a histogram has the rank-th smallest of its values.
  std::pair<double, double> around_rank(const std::string& name, const label_values& labels,
                                        double rank) const;

 private:
  std::vector<reading> samples_;
};

// As it is written for those who scrape.
std::string text_of(const families& all);

// The answer of 127.0.0.1; empty when nobody answers, or with another status than 200.
std::string http_get(int port, const std::string& path);

}  // namespace lockmark::metrics
