// The clock of another host, as bounds that hold: where it stands against ours, and by how much
// that may be wrong.
//
// An exchange has four stamps: the other host sends, we receive, we answer, it hears. Whatever the
// network did, its clock was at least at `sent` when ours showed `received`, and at most at `heard`
// when ours showed `answered`; so the difference of the clocks lies between two numbers, half a
// round trip to either side of their middle (Cristian, 1989). The bounds of several exchanges
// intersect, each widened by what the clocks may have drifted since (Marzullo, 1984). Averages play
// no part.
//
// Stamps of the other host are brought to our time by one line after another. Each begins where the
// last one ends, so that times never jump or go back; and each leads to the middle of the bounds,
// at most 500 ns a ms aslant. The error covers the bounds from wherever the line is.
//
// Knows no sockets and reads no clock. Times in ns.
#pragma once

#include <cstdint>
#include <vector>

namespace lockmark::agents {

struct exchange {
  std::int64_t sent_ns = 0;      // by the other host's clock
  std::int64_t received_ns = 0;  // by ours
  std::int64_t answered_ns = 0;  // by ours
  std::int64_t heard_ns = 0;     // by the other host's clock
  // By how much the two clocks may drift apart, in ns a ms (parts per million).
  double drift_ppm = 0;
};

class host_clock {
 public:
  // Later than those before. One whose stamps contradict themselves is ignored.
  void learn(const exchange& e);

  // Whether there was an exchange. REQUIRED by the calls below.
  bool known() const { return !lines_.empty(); }
  // A stamp of the other host in our time. Grows with `theirs_ns`, whenever it is asked.
  std::int64_t to_ours(std::int64_t theirs_ns);
  // The time of the other host's clock at our time.
  std::int64_t to_theirs(std::int64_t ours_ns) const;
  // By how much to_ours may be wrong for stamps that it brought to `ours_ns`.
  std::int64_t error_ns(std::int64_t ours_ns) const;

  std::uint64_t exchanges() const { return exchanges_; }
  // How often the clocks moved apart faster than they should: one was set, or its machine
  // suspended.
  std::uint64_t breaks() const { return breaks_; }
  // The difference now: theirs - ours.
  std::int64_t offset_ns() const;

 private:
  // Of the difference theirs - ours.
  struct bounds {
    double low_ns = 0;
    double high_ns = 0;
    std::int64_t at_ns = 0;  // our time

    double middle() const { return (low_ns + high_ns) / 2; }
    double half() const { return (high_ns - low_ns) / 2; }
  };
  struct line {
    std::int64_t theirs_ns = 0;  // where it begins, in both times
    std::int64_t ours_ns = 0;
    double slope = 0;  // what theirs gains on ours, per ns
    double middle_ns = 0;
    double half_ns = 0;  // of the bounds at its beginning
    double drift = 0;    // ns per ns
  };

  void begin(const bounds& first, std::int64_t theirs_ns, double drift);
  const line& line_of_theirs(std::int64_t theirs_ns) const;
  const line& line_of_ours(std::int64_t ours_ns) const;
  static std::int64_t along(const line& l, std::int64_t theirs_ns);

  bounds known_;
  std::vector<line> lines_;
  std::int64_t asked_until_ns_ = 0;  // the latest of their stamps that was brought to ours; 0: none
  std::uint64_t exchanges_ = 0;
  std::uint64_t breaks_ = 0;
};

}  // namespace lockmark::agents
