#include "harness/report/html/course.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/stats/hlog.hpp"

namespace lockmark::report::html {
namespace {

std::optional<stretch> parse(const std::string& line) {
  const json content = json::parse(line, nullptr, false);
  if (!content.is_object() || !look(content, {"at_s"}).is_number()) return std::nullopt;
  stretch s;
  s.begin_s = real_of(look(content, {"at_s"}));
  s.length_s = real_of(look(content, {"length_s"}));
  s.attempts = count_of(look(content, {"attempts"}));
  s.dropped = count_of(look(content, {"dropped"}));
  for (std::size_t e = 0; e < endings.size(); ++e) {
    s.ended[e] = count_of(look(content, {endings[e].key.data()}));
  }
  return s;
}

void add(stretch& to, const stretch& more) {
  to.length_s += more.length_s;
  to.attempts += more.attempts;
  to.dropped += more.dropped;
  for (std::size_t e = 0; e < endings.size(); ++e) to.ended[e] += more.ended[e];
}

// The window ends in the middle of an interval. The rate over a few milliseconds is random, and
// would look like a collapse.
void join_remainder(std::vector<stretch>& all) {
  if (all.size() < 2 || all.back().length_s > 0.25 * all[all.size() - 2].length_s) return;
  add(all[all.size() - 2], all.back());
  all.pop_back();
}

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

std::vector<stretch> read_timeline(std::istream& in, std::string& damage) {
  std::vector<stretch> all;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    const auto s = parse(line);
    if (!s) {
      if (in.peek() != std::istream::traits_type::eof()) {
        damage = fmt::format("line {} is not what lockmark writes", number);
      }
      break;
    }
    all.push_back(*s);
    // With several threads an interval may begin slightly before the previous one ended.
    if (all.size() > 1) all.back().begin_s = std::max(s->begin_s, all[all.size() - 2].begin_s);
  }
  return all;
}

std::vector<stretch> joined(const std::vector<stretch>& fine, std::size_t most) {
  const std::size_t each = std::max<std::size_t>(1, (fine.size() + most - 1) / most);
  std::vector<stretch> coarse;
  for (std::size_t i = 0; i < fine.size(); ++i) {
    if (i % each == 0) {
      coarse.push_back(fine[i]);
    } else {
      add(coarse.back(), fine[i]);
    }
  }
  join_remainder(coarse);
  return coarse;
}

std::vector<double> edges_of(std::span<const stretch> stretches) {
  std::vector<double> edges;
  if (stretches.empty()) return edges;
  for (const stretch& s : stretches) edges.push_back(s.begin_s);
  edges.push_back(stretches.back().begin_s + stretches.back().length_s);
  return edges;
}

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
