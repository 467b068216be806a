// The progress of a run on stderr: a bar on a terminal, a plain line a second into a pipe.
#pragma once

#include <string>

#include "harness/run/conductor.hpp"

namespace lockmark::cli {

class progress_display {
 public:
  // `what` stands before everything: "redis/lua contended". Quiet shows nothing at all.
  progress_display(std::string what, bool quiet);
  ~progress_display();  // leaves a clean line behind
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;

  void show(const run::progress& p);
  // Takes the bar away, so that other output can follow.
  void clear();

 private:
  std::string what_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  int shown_ = 0;
};

// The pieces, for tests: one line, no wider than `width`.
std::string progress_line(const std::string& what, const run::progress& p, std::size_t width);

}  // namespace lockmark::cli
