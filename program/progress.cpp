#include "program/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "harness/report/language.hpp"
#include "harness/report/text.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using report::tone;

// A single recent failure does not make a server silent.
constexpr double silent_after_s = 1;

// The parts of a line, chosen to fit the width.
struct form {
  int bar = 20;       // columns between its brackets; 0: none
  int quantiles = 2;  // p50 and p99, p99 only, none
  int remaining = 2;  // of run and table, of the run, none
  bool in_flight = true;
  bool success = true;
  bool rate = true;
  bool elapsed = true;
};

// From the longest to the shortest.
constexpr form forms[] = {
    {},
    {.bar = 10},
    {.bar = 10, .in_flight = false},
    {.bar = 10, .quantiles = 1, .in_flight = false},
    {.bar = 0, .quantiles = 1, .in_flight = false},
    {.bar = 0, .quantiles = 1, .remaining = 1, .in_flight = false},
    {.bar = 0, .quantiles = 0, .remaining = 1, .in_flight = false},
    {.bar = 0, .quantiles = 0, .remaining = 1, .in_flight = false, .success = false},
    {.bar = 0, .quantiles = 0, .remaining = 0, .in_flight = false, .success = false},
    {.bar = 0,
     .quantiles = 0,
     .remaining = 0,
     .in_flight = false,
     .success = false,
     .rate = false,
     .elapsed = false},
};

struct piece {
  std::string text;
  tone shade = tone::plain;
  bool joined = false;  // no blanks before it
};
using line = std::vector<piece>;

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

std::string time_left(double s) {
  if (s < 120) return fmt::format("{:.0f} s", s);
  if (s < 7200) return fmt::format("{:.0f} min", s / 60);
  return fmt::format("{:.1f} h", s / 3600);
}

std::string remaining_text(const run::progress& p, const form& f, std::optional<double> rest_s) {
  std::string text = fmt::format("{} left", time_left(p.remaining_s));
  if (f.remaining == 2 && rest_s) {
    text += fmt::format(", table {}", time_left(p.remaining_s + *rest_s));
  }
  return text;
}

// "#####" and "....."; the first is the completed part.
void add_bar(line& l, double fraction, int width) {
  const int full = std::clamp(static_cast<int>(fraction * width), 0, width);
  const std::string done(static_cast<std::size_t>(full), '#');
  l.push_back({fmt::format("[{}", done), tone::good});
  const std::string empty(static_cast<std::size_t>(width - full), '.');
  l.push_back({fmt::format("{}]", empty), tone::plain, true});
}

std::string quantiles_text(const run::progress& p, const form& f) {
  const auto shown = [](const stats::quantile_ns& t) {
    return report::time_text(report::time_value{t.value_ns, t.censored});
  };
  const std::string p99 = fmt::format("p99 {}", shown(p.response_p99));
  if (f.quantiles == 1) return p99;
  return fmt::format("p50 {} {}", shown(p.response_p50), p99);
}

line measuring(const run::progress& p, const form& f, std::optional<double> rest_s) {
  line l;
  if (f.bar > 0) add_bar(l, p.fraction, f.bar);
  const auto add = [&l](std::string text) { l.push_back({std::move(text)}); };
  add(fmt::format("{:3.0f} %", std::floor(100 * p.fraction)));
  if (f.remaining > 0) add(remaining_text(p, f, rest_s));
  if (f.rate) add(fmt::format("{}/s", report::rate_text(p.tps)));
  if (f.success && p.has_point) add(fmt::format("{} ok", report::share_text(p.success_rate)));
  if (f.quantiles > 0 && p.has_point && p.response_p99.value_ns > 0) add(quantiles_text(p, f));
  if (f.in_flight) add(fmt::format("{} in flight", p.in_flight));
  return l;
}

line other_phase(const run::progress& p, const form& f) {
  line l{piece{name_of(p.now), tone::doubtful}};
  const bool loaded = p.now == run::phase::warming_up || p.now == run::phase::draining;
  if (p.now == run::phase::opening && p.clients > 1) {
    l.push_back({fmt::format("{} of {} clients", p.connected, p.clients)});
  }
  if (f.elapsed && p.elapsed_s >= 1) l.push_back({time_left(p.elapsed_s)});
  if (f.rate && p.now == run::phase::warming_up) {
    l.push_back({fmt::format("{}/s", report::rate_text(p.tps))});
  }
  if (f.in_flight && loaded) l.push_back({fmt::format("{} in flight", p.in_flight)});
  return l;
}

void add_alarms(line& l, const run::progress& p) {
  if (p.violations > 0) {
    l.push_back(
        {fmt::format("{} VIOLATION{}", p.violations, p.violations > 1 ? "S" : ""), tone::bad});
  }
  if (p.server_silent_s >= silent_after_s) {
    l.push_back({fmt::format("no answer for {:.1f} s", p.server_silent_s), tone::bad});
  }
}

line content(const run::progress& p, const form& f, std::optional<double> rest_s) {
  line l = p.now == run::phase::measuring ? measuring(p, f, rest_s) : other_phase(p, f);
  add_alarms(l, p);
  return l;
}

std::size_t width_of(const line& l) {
  std::size_t sum = 0;
  for (const piece& p : l) {
    sum += report::display_width(p.text) + (sum > 0 && !p.joined ? 2 : 0);
  }
  return sum;
}

// As much of the text as fits, in whole characters.
std::string_view cut(std::string_view text, std::size_t width) {
  while (report::display_width(text) > width) {
    std::size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xc0U) == 0x80U) --last;
    text = text.substr(0, last);
  }
  return text;
}

std::string painted(const line& l, std::size_t width, const report::style& look) {
  std::string text;
  std::size_t used = 0;
  for (const piece& p : l) {
    if (used > 0 && !p.joined) {
      if (used + 2 >= width) break;
      text += "  ";
      used += 2;
    }
    const std::string_view part = cut(p.text, width - used);
    text += look.paint(part, p.shade);
    used += report::display_width(part);
    if (part.size() < p.text.size()) break;
  }
  return text;
}

// Names are cut to this width before figures are left out.
std::size_t name_share(std::size_t width) {
  constexpr std::size_t narrow = 60, very_narrow = 30;
  return width >= narrow ? width : width >= very_narrow ? 12 : 0;
}

}  // namespace

std::string progress_line(const std::string& what, const run::progress& p, std::size_t width,
                          const report::style& look, std::optional<double> rest_s) {
  constexpr std::size_t least_of_name = 4;
  const std::size_t name = std::min(report::display_width(what), name_share(width));
  line rest;
  for (const form& f : forms) {
    rest = content(p, f, rest_s);
    if (width_of(rest) + (name > 0 ? name + 2 : 0) <= width) break;
  }
  const std::size_t taken = width_of(rest) + 2;
  const std::size_t room = taken < width ? width - taken : 0;
  const std::string_view shown = cut(what, room);
  if (shown.size() == what.size() || room >= least_of_name) {
    rest.insert(rest.begin(), piece{std::string(shown)});
  }
  return painted(rest, width, look);
}

std::string progress_log_line(const std::string& what, const run::progress& p,
                              std::optional<double> rest_s) {
  const form all{.bar = 0};
  std::string text = what;
  if (p.now == run::phase::measuring) text += fmt::format(" {}", name_of(p.now));
  const char* between = p.now == run::phase::measuring ? "  " : " ";
  for (const piece& part : content(p, all, rest_s)) {
    text += fmt::format("{}{}", between, part.text);
    between = "  ";
  }
  return text;
}

std::string printable(std::string_view text) {
  std::string clean(text);
  for (char& c : clean) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  // U+0080 to U+009F are control characters as well, of two bytes each.
  for (std::size_t at = 0; (at = clean.find('\xc2', at)) != std::string::npos; ++at) {
    const bool control = at + 1 < clean.size() && static_cast<unsigned char>(clean[at + 1]) < 0xa0;
    if (control) clean.replace(at, 2, "?");
  }
  return clean;
}

progress_display::progress_display(std::string what, bool quiet)
    : what_(printable(what)),
      quiet_(quiet),
      screen_(screen_of(stderr)),
      next_line_(real_clock{}.now() + 1s) {}

progress_display::~progress_display() {
  clear();
}

// The cursor stays at the beginning of the line: if a narrower window has broken the line in two,
// everything from there on is ours to erase.
void progress_display::draw(const std::string& text) {
  constexpr const char* no_wrap = "\033[?7l";
  constexpr const char* wrap = "\033[?7h";
  constexpr const char* erase_rest = "\033[J";
  fmt::print(stderr, "{}{}{}{}\r", no_wrap, text, erase_rest, wrap);
  std::fflush(stderr);
  drawn_ = true;
}

void progress_display::clear() {
  if (drawn_) fmt::print(stderr, "\r\033[J");
  drawn_ = false;
}

void progress_display::announce(std::string_view activity) {
  if (quiet_ || !screen_.in_place) return;
  const line l{piece{what_}, piece{std::string(activity), tone::doubtful}};
  draw(painted(l, cli::width_of(stderr) - 1, style_of(screen_)));
}

void progress_display::show(const run::progress& p) {
  if (quiet_) return;
  if (screen_.in_place) {
    // One column stays free: some terminals wrap a line that fills the last one.
    draw(progress_line(what_, p, cli::width_of(stderr) - 1, style_of(screen_), rest_s_));
    return;
  }
  const time_point now = real_clock{}.now();
  if (now < next_line_) return;
  next_line_ += 1s;
  if (next_line_ <= now) next_line_ = now + 1s;
  fmt::print(stderr, "{}\n", progress_log_line(what_, p, rest_s_));
}

}  // namespace lockmark::cli
