#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/base/lists.hpp"
#include "harness/report/fault_matrix.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

constexpr std::size_t lock_indent = 2, figure_indent = 4;

std::string counted(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string held_text(const fault_cell& c) {
  if (c.violated > 0)
    return fmt::format("violated in {} of {}", c.violated, counted(c.runs, "run"));
  if (c.safe > 0) return fmt::format("safe in {} of {}", c.safe, counted(c.runs, "run"));
  return not_safe_text(c);
}

// The longest of several.
std::string next_grant_text(const fault_cell& c) {
  if (c.recoveries_ns.empty()) return "";
  std::int64_t longest_ns = 0;
  for (const auto& r : c.recoveries_ns) {
    if (!r) return "not granted again";
    longest_ns = std::max(longest_ns, *r);
  }
  return fmt::format("next grant {}{} after the fault",
                     c.recoveries_ns.size() > 1 ? "at most " : "", duration_text(longest_ns));
}

tone shade_of(const fault_cell& c) {
  if (c.violated > 0) return tone::bad;
  return c.safe < c.runs ? tone::doubtful : tone::good;
}

// Two at once, of that those without the paused or dead holder, and what a fence would have done.
std::string overlaps_text(const fault_cell& c) {
  std::string text = fmt::format(
      "{} of the key by two clients at once, {} of them without the "
      "client that the fault hit",
      counted(c.violations, "hold"), c.among_others);
  if (c.stale_accesses > 0) {
    text += fmt::format("; {} to the resource came too late, which {}",
                        counted(c.stale_accesses, "write"),
                        c.fenced ? "a fencing token lets it refuse"
                                 : "it cannot refuse, because this lock has no fencing token");
  }
  return text;
}

std::string theory_text(const fault_cell& c) {
  std::string text = fmt::format("predicted next grant: {}; {} of {}", c.theory, c.agreeing,
                                 counted(c.recoveries_ns.size(), "run"));
  text += c.recoveries_ns.size() == 1 ? " agrees" : " agree";
  if (c.not_observed > 0) text += fmt::format(", {} ended too early to tell", c.not_observed);
  return text;
}

}  // namespace

std::string verdict_text(const fault_cell& cell) {
  std::string text = held_text(cell);
  const std::string next = next_grant_text(cell);
  if (!next.empty()) text += "; " + next;
  if (cell.incomplete > 0) text += fmt::format("; {} incomplete", counted(cell.incomplete, "run"));
  return text;
}

std::string fault_matrix_text(const std::vector<fault_cell>& cells, std::size_t width,
                              const style& look) {
  std::string text;
  const auto add = [&](std::size_t indent, const std::string& paragraph, tone shade) {
    for (const std::string& line : wrapped(paragraph, width - indent)) {
      text += fmt::format("{:{}}{}\n", "", indent, look.paint(line, shade));
    }
  };
  for (const std::string& scenario : distinct(cells, &fault_cell::scenario)) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", scenario);
    for (const fault_cell& c : cells) {
      if (c.scenario != scenario) continue;
      add(lock_indent, fmt::format("{} on {}: {}", c.lock, c.topology, verdict_text(c)),
          shade_of(c));
      if (c.violated > 0) add(figure_indent, overlaps_text(c), tone::plain);
      if (!c.theory.empty()) add(figure_indent, theory_text(c), tone::plain);
    }
  }
  return text;
}

}  // namespace lockmark::report
