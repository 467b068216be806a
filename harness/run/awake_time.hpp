// How long something has been waited for, in time that this process was awake to see.
//
// A pause of the whole machine, or of this process alone, is not the fault of what is waited for:
// nothing is given up before it had its time after the pause. A look counts a second at most,
// however long ago the last one was, so REQUIRED: looks more often than that.
#pragma once

#include <algorithm>

#include "harness/time/clock.hpp"

namespace lockmark::run {

class awake_time {
 public:
  explicit awake_time(time_point now) : looked_(now) {}

  // Looks: the time since the beginning.
  duration passed(time_point now) {
    passed_ += std::min<duration>(now - looked_, std::chrono::seconds{1});
    looked_ = now;
    return passed_;
  }

  // Begins anew.
  void restart(time_point now) { *this = awake_time(now); }

 private:
  time_point looked_;
  duration passed_{};
};

}  // namespace lockmark::run
