#include "harness/report/html/latency.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/stats/hlog.hpp"

namespace lockmark::report::html {
namespace {

std::size_t band_of(std::int64_t ns) {
  if (ns <= 1) return 0;
  const double band = std::floor(bands_per_decade * std::log10(static_cast<double>(ns)));
  return std::min(static_cast<std::size_t>(band), bands - 1);
}

// Fills the moments in time order, with one histogram for all of them: the histograms of an hour
// would not fit into memory.
class moment_writer {
 public:
  moment_writer(const std::vector<double>& edges, std::vector<moment>& moments)
      : edges_(edges), moments_(moments) {
    if (edges.size() > 1) moments_.resize(edges.size() - 1);
  }

  void add(const stats::hlog_interval& i) {
    if (moments_.empty()) return;
    // The file's times are rounded to milliseconds; the middle is safely within its stretch.
    const double middle_s = static_cast<double>(i.start_ns + i.length_ns / 2) / 1e9;
    const auto after = std::upper_bound(edges_.begin(), edges_.end(), middle_s);
    const auto ahead = std::max<std::ptrdiff_t>(after - edges_.begin(), 1) - 1;
    const std::size_t at = std::min(static_cast<std::size_t>(ahead), moments_.size() - 1);
    if (at != at_) finish();
    at_ = at;
    sum_.merge(i.values);
  }

  void finish() {
    if (sum_.empty()) return;
    moment& m = moments_[at_];
    m.granted = sum_.count();
    m.p50_ns = sum_.value_at_quantile(0.5);
    m.p90_ns = sum_.value_at_quantile(0.9);
    m.p99_ns = sum_.value_at_quantile(0.99);
    m.max_ns = sum_.value_at_quantile(1);
    m.by_band.assign(bands, 0);
    sum_.for_each_bucket([&](std::int64_t low, std::int64_t high, std::int64_t count) {
      m.by_band[band_of(low + (high - low) / 2)] += static_cast<std::uint32_t>(count);
    });
    sum_.reset();
  }

 private:
  const std::vector<double>& edges_;
  std::vector<moment>& moments_;
  stats::histogram sum_;
  std::size_t at_ = 0;
};

}  // namespace

latency read_latency(std::istream& in, const std::vector<double>& edges, std::string& damage) {
  latency found;
  moment_writer moments(edges, found.moments);
  stats::hlog_reader reader(in, {"", "service", "timer_lag"});
  try {
    while (const auto interval = reader.next()) {
      if (interval->tag.empty()) {
        found.response.merge(interval->values);
        moments.add(*interval);
      } else {
        (interval->tag == "service" ? found.service : found.timer_lag).merge(interval->values);
      }
    }
  } catch (const std::exception& e) {  // damaged, or of another precision than ours
    damage = e.what();
  }
  moments.finish();
  return found;
}

}  // namespace lockmark::report::html
