// Two holders at once on different hosts, 10,000 times, injected with known times: what is certain
// by the stamps was so in truth, and what lasted longer than the stated error is found.
//
// Three hosts whose clocks stand 1,000 s apart and drift, on links of 200 us whose delays grow
// under load, one way more than the other. The clocks of a host are all that its stamps know.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "harness/agents/host_clock.hpp"
#include "harness/check/exclusion.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::agents {
namespace {

constexpr std::int64_t micro = 1'000;
constexpr std::int64_t milli = 1'000'000;
constexpr std::int64_t second = 1'000'000'000;

constexpr std::uint32_t hosts = 3;

class simulation final : public check::clock_errors {
 public:
  // `busy`: the links carry load.
  explicit simulation(bool busy) : busy_(busy), random_(busy ? 7 : 8) {}

  // The stamp of a host at the true time, which is ours.
  std::int64_t stamp(std::size_t host, std::int64_t at_ns) const {
    const double ppm = 45.0 * (static_cast<double>(host) - 1);
    return at_ns + static_cast<std::int64_t>(host + 1) * 1'000 * second +
           std::llround(ppm * 1e-6 * static_cast<double>(at_ns));
  }
  // Whatever is exchanged until the true time, four times a second on each host.
  void exchange_until(std::int64_t until_ns) {
    for (; next_ns_ < until_ns; next_ns_ += 250 * milli) {
      for (std::size_t h = 0; h < hosts; ++h) exchange_on(h, next_ns_ + random(250 * milli));
    }
  }
  host_clock& clock(std::size_t host) { return clocks_[host]; }
  // The largest ratio of true to stated error over all exchanges; their stated errors' median.
  double worst() const { return worst_; }
  std::int64_t median_error_ns() {
    std::ranges::sort(stated_);
    return stated_[stated_.size() / 2];
  }

  // Client h is on host h.
  std::int64_t between(std::uint32_t client, std::uint32_t other,
                       std::int64_t at_ns) const override {
    return clocks_[client].error_ns(at_ns) + clocks_[other].error_ns(at_ns);
  }
  std::int64_t random(std::int64_t below) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(below)));
  }

 private:
  std::int64_t delay(bool there) {
    std::int64_t ns = 100 * micro + random(50 * micro);
    if (busy_ && random(4) == 0) ns += random(there ? 3 * milli : 500 * micro);
    return ns;
  }
  void exchange_on(std::size_t h, std::int64_t at_ns) {
    exchange e;
    e.sent_ns = stamp(h, at_ns);
    e.received_ns = at_ns + delay(true);
    e.answered_ns = e.received_ns + 20 * micro;
    const std::int64_t heard_at_ns = e.answered_ns + delay(false);
    e.heard_ns = stamp(h, heard_at_ns);
    e.drift_ppm = 100;
    clocks_[h].learn(e);
    const std::int64_t ours_ns = clocks_[h].to_ours(e.heard_ns);
    const std::int64_t stated_ns = clocks_[h].error_ns(ours_ns);
    stated_.push_back(stated_ns);
    worst_ = std::max(worst_, std::abs(static_cast<double>(ours_ns - heard_at_ns)) /
                                  static_cast<double>(stated_ns));
  }

  const bool busy_;
  stats::random_source random_;
  std::array<host_clock, hosts> clocks_;
  std::int64_t next_ns_ = 0;
  std::vector<std::int64_t> stated_;
  double worst_ = 0;
};

struct counts {
  std::uint64_t long_ones = 0;  // injected, longer than the stated error
  std::uint64_t found = 0;      // of these, certain
  std::uint64_t untrue = 0;     // certain, and not so
};

// One holder until `end`, and another from `end - overlap` on: negative, and it is no overlap.
void inject(simulation& world, std::int64_t end_ns, std::int64_t overlap_ns, counts& all) {
  const auto a = static_cast<std::uint32_t>(world.random(hosts));
  const std::uint32_t b = (a + 1 + static_cast<std::uint32_t>(world.random(hosts - 1))) % hosts;
  const auto event = [&](std::uint32_t client, std::int64_t at_ns, check::event_kind kind) {
    return check::event{.at_ns = world.clock(client).to_ours(world.stamp(client, at_ns)),
                        .client = client,
                        .kind = kind};
  };
  using enum check::event_kind;
  std::vector<check::event> events{
      event(a, end_ns - 40 * milli, granted), event(a, end_ns, released),
      event(b, end_ns - overlap_ns, granted), event(b, end_ns + 40 * milli, released)};
  std::ranges::sort(events, check::before);
  check::exclusion found(1, &world);
  for (const check::event& e : events) {
    if (e.kind == granted) found.granted(e);
    if (e.kind == released) found.released(e);
  }
  const std::int64_t error_ns = world.between(a, b, end_ns);
  if (overlap_ns > error_ns) {
    ++all.long_ones;
    all.found += found.certain();
  } else if (overlap_ns <= 0) {
    all.untrue += found.certain();
  }
}

class overlaps : public testing::TestWithParam<bool> {};

TEST_P(overlaps, are_found_where_they_can_be_and_never_invented) {
  simulation world(GetParam());
  counts all;
  std::int64_t now_ns = 5 * second;
  for (int n = 0; n < 20'000; ++n, now_ns += 10 * milli) {
    world.exchange_until(now_ns);
    // Half of them are none, by as much.
    const std::int64_t overlap_ns = world.random(20 * milli) * (n % 2 == 0 ? 1 : -1);
    inject(world, now_ns, overlap_ns, all);
  }
  EXPECT_GT(all.long_ones, 8'000U);
  EXPECT_GE(static_cast<double>(all.found), 0.99 * static_cast<double>(all.long_ones));
  EXPECT_EQ(all.untrue, 0U);
  EXPECT_LE(world.worst(), 1) << "the stated error covers the true one, in every exchange";
  EXPECT_LE(world.median_error_ns(), 250 * micro);
  RecordProperty("found", static_cast<int>(all.found));
  RecordProperty("long", static_cast<int>(all.long_ones));
  RecordProperty("median_us", static_cast<int>(world.median_error_ns() / micro));
}

// Short ones near zero: the error decides, and never the wrong way.
TEST_P(overlaps, of_a_microsecond_are_possible_at_most) {
  simulation world(GetParam());
  counts all;
  std::int64_t now_ns = 5 * second;
  for (int n = 0; n < 5'000; ++n, now_ns += 10 * milli) {
    world.exchange_until(now_ns);
    inject(world, now_ns, -world.random(300 * micro), all);
  }
  EXPECT_EQ(all.untrue, 0U);
}

INSTANTIATE_TEST_SUITE_P(idle_and_busy_links, overlaps, testing::Bool());

}  // namespace
}  // namespace lockmark::agents
