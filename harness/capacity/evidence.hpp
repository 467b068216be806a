// How sure a probe is: the share of attempts that came too late, and the growth of the backlog,
// with one-sided confidence bounds.
//
// "p99 below 20 ms" and "at most 1 % later than 20 ms" are the same statement; the second is a
// share, whose bounds cost nothing to compute. Late attempts come in crowds (one long queue makes
// many of them), so their number says less than it seems. The bounds are those of a share from as
// many independent attempts as the crowds are worth: Korn and Graubard, 1998, with Wilson's
// interval; the worth is the variance between stretches of time over that of independent attempts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockmark::capacity {

// A stretch of a run. All of one run are equally long.
struct stretch {
  std::int64_t attempts = 0;
  std::int64_t late = 0;  // later than the objective allows; never granted counts as late
  double waiting = 0;     // attempts that wait at once, on average (Little's law)
};

// One run of a probe, in the order of time.
struct stretches {
  std::vector<stretch> parts;
  double part_s = 0;
};

struct share_bounds {
  double share = 0;
  double low = 0;  // each is wrong with the probability that was asked for
  double high = 1;
  std::int64_t attempts = 0;
  double worth = 0;  // independent attempts that would tell as much; at most `attempts`
};

// `doubt`: the probability that the truth lies above `high`, and that it lies below `low`.
// Stretches shorter than what connects attempts are put together, about 30 to a run.
share_bounds bound_share(std::span<const stretches> runs, double doubt);

struct growth_bounds {
  double per_s = 0;  // waiting attempts that come to be each second
  double low = 0;
  double high = 0;
};

// A straight line through each run, the same slope for all. Fewer than four stretches in all tell
// nothing: low and high are infinite.
growth_bounds bound_growth(std::span<const stretches> runs, double doubt);

struct bounds {
  double value = 0;
  double low = 0;
  double high = 0;
};

// Of the mean wait of an attempt, in seconds, and of attempts per second.
bounds bound_mean_wait_s(std::span<const stretches> runs, double doubt);
bounds bound_attempts_per_s(std::span<const stretches> runs, double doubt);

// Student's t quantile for an upper tail of `tail` (0 to 0.5): Cornish and Fisher's expansion, good
// to 2 % for five degrees of freedom and more.
double student_quantile(double tail, double freedom);

}  // namespace lockmark::capacity
