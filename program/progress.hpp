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
  // `what` begins every line: "redis/lua contended". Quiet shows nothing at all.
  progress_display(std::string what, bool quiet);
  ~progress_display();  // leaves a clean line behind
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;

  // The activity before the run, such as "starting servers".
  void announce(std::string_view activity);
  void show(const run::progress& p);
  // Erases the line, so that other output can follow.
  void clear();

  // For one row of several: the estimated time for the rows after it.
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

// The parts, for tests.

// One line for a terminal of `width` columns. Parts that do not fit are left out, the least
// important first; violations and a silent server never are.
std::string progress_line(const std::string& what, const run::progress& p, std::size_t width,
                          const report::style& look = {}, std::optional<double> rest_s = {});

// One line for a pipe: all figures, and no bar.
std::string progress_log_line(const std::string& what, const run::progress& p,
                              std::optional<double> rest_s = {});

// A job's name is a file's name, which may contain anything: returns it without characters that a
// terminal would interpret.
std::string printable(std::string_view text);

}  // namespace lockmark::cli
