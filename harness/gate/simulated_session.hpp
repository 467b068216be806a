// Sessions of the gate on simulated runs, for tests: with noise and effects of known size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/gate/metrics.hpp"
#include "harness/gate/session.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::gate {

// The ln of a run's figure, one after the other: the noise of the machine, which knows no sides.
// `spread`: the deviation of the ln of the ratio of two runs of a pair.
struct noise {
  double spread = 0.05;
  double drift = 0;        // over a session of thirty pairs
  double correlation = 0;  // of a run with the one before (AR(1))
  bool outliers = false;   // one run in eight takes three times as long, as on a shared machine

  // The next run's, from the last one's.
  double next(stats::random_source& random, double& last) const {
    const double deviation = spread / std::sqrt(2 * (1 - correlation));
    last =
        correlation * last + random.normal(0, deviation * std::sqrt(1 - correlation * correlation));
    return last + (outliers && random.below(8) == 0 ? std::log(3.0) : 0);
  }
};

inline noise normal(double spread) {
  return {.spread = spread};
}

// All metrics of the gate; counts never vary.
struct simulation {
  noise of = {};
  double shared = 0;                 // the part of the noise common to all metrics, 0 to 1
  std::vector<double> effects = {};  // relative, by metric
  double control_effect = 0;         // how much faster the control is with the candidate
  std::vector<metric> metrics = known_metrics(true);
  std::size_t stored = 0;  // runs of a stored baseline; 0: pairs

  // The runs of one session, in order of time.
  struct runs {
    std::vector<double> last;  // by metric; the last one is common to all
    std::size_t made = 0;

    block next(const simulation& s, stats::random_source& random, bool candidate) {
      last.resize(s.metrics.size() + 1);
      block b;
      const double common = s.of.next(random, last.back());
      const double drifted = s.of.drift * static_cast<double>(made++) / (2 * most_pairs);
      for (std::size_t m = 0; m < s.metrics.size(); ++m) {
        double worse = s.shared * common + (1 - s.shared) * s.of.next(random, last[m]) + drifted;
        if (s.metrics[m].exact) worse = 0;
        if (candidate && m < s.effects.size()) worse += std::log1p(s.effects[m]);
        b.values.push_back(100 * std::exp(s.metrics[m].higher_is_better ? -worse : worse));
      }
      b.control =
          1000 * (1 + (candidate ? s.control_effect : 0)) * std::exp(random.normal(0, 0.01));
      return b;
    }
  };

  conclusion run(stats::random_source& random) const {
    runs all;
    std::vector<block> before;
    while (before.size() < stored) before.push_back(all.next(*this, random, false));
    session s(metrics, before);
    const std::string order = order_of_sides(random.next(), most_pairs);
    while (s.wants_more()) {
      if (stored > 0) {
        s.add(all.next(*this, random, true));
      } else {
        s.add(one_pair(all, random, order[s.pairs()]));
      }
    }
    return s.conclude();
  }

  pair one_pair(runs& all, stats::random_source& random, char first) const {
    pair p;
    if (first == 'b') p.baseline = all.next(*this, random, false);
    p.candidate = all.next(*this, random, true);
    if (first == 'c') p.baseline = all.next(*this, random, false);
    return p;
  }
  pair one_pair(stats::random_source& random) const {
    runs all;
    return one_pair(all, random, 'b');
  }

  std::vector<conclusion> sessions(int n, std::uint64_t seed) const {
    stats::random_source random(seed);
    std::vector<conclusion> all;
    while (n-- > 0) all.push_back(run(random));
    return all;
  }

  int count(decision wanted, int n, std::uint64_t seed = 7) const {
    return static_cast<int>(std::ranges::count(sessions(n, seed), wanted, &conclusion::how));
  }
};

}  // namespace lockmark::gate
