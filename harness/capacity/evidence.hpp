// The certainty of a probe: the share of late attempts and the growth of the backlog, with
// one-sided confidence bounds.
//
// "p99 below 20 ms" and "at most 1 % later than 20 ms" are the same statement; the second is a
// share, whose bounds are cheap to compute. Late attempts come in crowds (one long queue makes many
// of them), so their number carries less information than it seems. The bounds are those of a share
// from as many independent attempts as the crowds are worth: Korn and Graubard, 1998, with Wilson's
// interval; the worth comes from the variance between stretches of time over that of independent
// attempts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockmark::capacity {

// A stretch of a run. All stretches of a run are equally long.
struct stretch {
  std::int64_t attempts = 0;
  std::int64_t late = 0;  // later than the objective allows; never granted counts as late
  double waiting = 0;     // mean number of attempts waiting at a time (Little's law)
};

// One run of a probe, in time order.
struct stretches {
  std::vector<stretch> parts;
  double part_s = 0;
};

struct share_bounds {
  double share = 0;
  double low = 0;  // each is wrong with the requested probability
  double high = 1;
  std::int64_t attempts = 0;
  double worth = 0;  // independent attempts with the same information; at most `attempts`
};

// `doubt`: the probability that the truth lies above `high`, and that it lies below `low`. Merges
// stretches that are too short to be independent, to about 30 per run.
share_bounds bound_share(std::span<const stretches> runs, double doubt);

// The same of runs whose replays (replay.hpp) tell how lucky they were: late attempts that a replay
// had too many or too few of, against `expected`, its model's share in the long run, are taken out
// one for one: a factor estimated from the same run would be too small in lucky ones. `worth` may
// then exceed `attempts`. `looks`: how often the
// bounds are asked for while the runs go on; they hold at all of them.
struct share_beside {
  share_bounds late;
  double together = 0;  // the share of the variance between stretches that the replay explains
};
share_beside bound_share_beside(std::span<const stretches> runs, std::span<const stretches> replays,
                                double expected, double doubt, int looks = 1);

struct growth_bounds {
  double per_s = 0;  // increase of waiting attempts per second
  double low = 0;
  double high = 0;
};

// Fits a straight line to each run, with one slope for all. With fewer than four stretches in
// total, low and high are infinite.
growth_bounds bound_growth(std::span<const stretches> runs, double doubt);

struct bounds {
  double value = 0;
  double low = 0;
  double high = 0;
};

// Bounds on the mean wait of an attempt, in seconds, and on attempts per second.
bounds bound_mean_wait_s(std::span<const stretches> runs, double doubt);
bounds bound_attempts_per_s(std::span<const stretches> runs, double doubt);

// Student's t quantile for an upper tail of `tail` (0 to 0.5): Cornish and Fisher's expansion,
// accurate to 2 % for five degrees of freedom and more.
double student_quantile(double tail, double freedom);

}  // namespace lockmark::capacity
