// The progress of a run on stderr: one line in place on a terminal, a plain line a second into a
// pipe or onto a dumb terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/run/live.hpp"
#include "harness/time/clock.hpp"
#include "program/terminal.hpp"

namespace lockmark::cli {

class progress_display {
 public:
  // `what` stands before everything: "redis/lua contended". Quiet shows nothing at all.
  progress_display(std::string what, bool quiet);
  ~progress_display();  // leaves a clean line behind
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;

  // What goes on before there is a run to show, such as "starting servers".
  void announce(std::string_view activity);
  void show(const run::progress& p);
  // Takes the line away, so that other output can follow.
  void clear();

  // For one row of many: about how long the rows after it will take.
  void rows_to_come(std::optional<double> take_s) { rest_s_ = take_s; }

 private:
  void draw(const std::string& line);

  std::string what_;
  bool quiet_;
  screen screen_;
  bool drawn_ = false;
  std::optional<double> rest_s_;
  time_point next_line_;
};

// The pieces, for tests.

// One line for a terminal of `width` columns. What does not fit is left out, the least important
// first; violations and a silent server never are.
std::string progress_line(const std::string& what, const run::progress& p, std::size_t width,
                          const report::style& look = {}, std::optional<double> rest_s = {});

// One line for a pipe: everything, and no bar.
std::string progress_log_line(const std::string& what, const run::progress& p,
                              std::optional<double> rest_s = {});

// The name of a job is the name of a file, in which anything may stand: without what a terminal
// would take for a command.
std::string printable(std::string_view text);

}  // namespace lockmark::cli
