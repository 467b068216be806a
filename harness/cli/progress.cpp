#include "harness/cli/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "harness/cli/terminal.hpp"

namespace lockmark::cli {
namespace {

constexpr int bar_width = 20;
// The conductor reports five times a second; a pipe gets one line of them.
constexpr int reports_per_line = 5;

const char* name_of(run::progress::phase p) {
  switch (p) {
    case run::progress::phase::opening: return "connecting";
    case run::progress::phase::warming_up: return "warming up";
    case run::progress::phase::measuring: return "measuring";
    case run::progress::phase::draining: return "draining";
    case run::progress::phase::cleaning: return "cleaning up";
  }
  return "";
}

std::string bar(double fraction) {
  const int full = static_cast<int>(fraction * bar_width);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(bar_width - full), '.') + "]";
}

}  // namespace

std::string progress_line(const std::string& what, const run::progress& p, std::size_t width) {
  std::string text = fmt::format("{} {}", what, name_of(p.now));
  const bool measuring = p.now == run::progress::phase::measuring;
  if (measuring) {
    text += fmt::format(" {} {:3.0f} %", bar(p.fraction), 100 * p.fraction);
    text += fmt::format(" {:.0f} s left", p.remaining_s);
    text += fmt::format("  {:.0f}/s  {} in flight", p.tps, p.in_flight);
  }
  const std::string alarm =
      p.violations > 0 ? fmt::format("  {} VIOLATIONS", p.violations) : std::string();
  if (text.size() + alarm.size() > width && measuring) {
    text = fmt::format("{} {:3.0f} %  {:.0f}/s", what, 100 * p.fraction, p.tps);
  }
  const std::size_t room = width - std::min(width, alarm.size());
  return (text.substr(0, room) + alarm).substr(0, width);
}

progress_display::progress_display(std::string what, bool quiet)
    : what_(std::move(what)), quiet_(quiet), terminal_(is_terminal(stderr)) {}

progress_display::~progress_display() {
  clear();
}

void progress_display::clear() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
  drawn_ = false;
}

void progress_display::show(const run::progress& p) {
  if (quiet_) return;
  if (terminal_) {
    // One column stays free: a full line would wrap on some terminals.
    fmt::print(stderr, "\r{}\033[K", progress_line(what_, p, width_of(stderr) - 1));
    std::fflush(stderr);
    drawn_ = true;
  } else if (p.now == run::progress::phase::measuring && shown_++ % reports_per_line == 0) {
    fmt::print(stderr, "{}\n", progress_line(what_, p, 200));
  }
}

}  // namespace lockmark::cli
