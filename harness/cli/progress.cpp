#include "harness/cli/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "harness/cli/terminal.hpp"

namespace lockmark::cli {
namespace {

constexpr int bar_width = 20;
// The conductor reports five times a second; a pipe gets one line of them.
constexpr int reports_per_line = 5;

const char* name_of(run::phase p) {
  switch (p) {
    case run::phase::opening: return "connecting";
    case run::phase::warming_up: return "warming up";
    case run::phase::measuring: return "measuring";
    case run::phase::draining: return "draining";
    case run::phase::cleaning: return "cleaning up";
  }
  return "";
}

std::string bar(double fraction) {
  const int full = static_cast<int>(fraction * bar_width);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(bar_width - full), '.') + "]";
}

// From the fullest to the shortest.
std::vector<std::string> measuring_lines(const std::string& what, const run::progress& p) {
  const std::string done = fmt::format("{} {:3.0f} %", bar(p.fraction), 100 * p.fraction);
  const std::string rate = fmt::format("{:.0f} s left  {:.0f}/s", p.remaining_s, p.tps);
  return {fmt::format("{} measuring {} {}  {} in flight", what, done, rate, p.in_flight),
          fmt::format("{} {} {}", what, done, rate),
          fmt::format("{} {:3.0f} %  {:.0f}/s", what, 100 * p.fraction, p.tps)};
}

}  // namespace

std::string progress_line(const std::string& what, const run::progress& p, std::size_t width) {
  std::vector<std::string> forms{fmt::format("{} {}", what, name_of(p.now))};
  if (p.now == run::phase::measuring) forms = measuring_lines(what, p);
  const std::string alarm =
      p.violations > 0 ? fmt::format("  {} VIOLATIONS", p.violations) : std::string();
  const std::size_t room = width - std::min(width, alarm.size());
  const auto fits = std::find_if(forms.begin(), forms.end(),
                                 [&](const std::string& form) { return form.size() <= room; });
  const std::string& text = fits == forms.end() ? forms.back() : *fits;
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
  } else if (p.now == run::phase::measuring && shown_++ % reports_per_line == 0) {
    fmt::print(stderr, "{}\n", progress_line(what_, p, 200));
  }
}

}  // namespace lockmark::cli
