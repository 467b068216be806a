#include <fmt/format.h>

#include <cmath>

#include "harness/report/html/markup.hpp"
#include "harness/report/html/parts.hpp"

namespace lockmark::report::html {
namespace {

enum class verdict : std::uint8_t { held, broken, unknown };

verdict verdict_of(const subject& s) {
  const json& held = s.at({"verdict", "held"});
  if (!held.is_boolean()) return verdict::unknown;
  return held.get<bool>() ? verdict::held : verdict::broken;
}

// A sign and a word, not colour alone.
std::string_view headline(verdict v) {
  switch (v) {
    case verdict::held: return "\u2714 The lock held";
    case verdict::broken: return "\u2716 THE LOCK DID NOT HOLD";
    case verdict::unknown: break;
  }
  return "? Not known whether the lock held";
}

std::string_view class_of(verdict v) {
  return v == verdict::held ? "held" : v == verdict::broken ? "broken" : "unknown";
}

std::string grounds(const subject& s, verdict v) {
  if (v == verdict::unknown && !s.in_table.complete) {
    return "The run has no verdict: it did not come to its end.";
  }
  if (v == verdict::unknown) return "The run has no verdict: nothing was measured.";
  const json& exposure = s.at({"verdict", "exposure"});
  const std::uint64_t chances = count_of(look(exposure, {"chances"}));
  const std::string of = shown(look(exposure, {"of"}));
  if (v == verdict::broken) {
    return fmt::format("{} violations in {} {}. What was guarded by this lock was not safe.",
                       shown(s.at({"verdict", "violations"})), chances, of);
  }
  if (chances == 0) return fmt::format("But there were no {} that could have gone wrong.", of);
  const double below = real_of(look(exposure, {"violation_share_below_95"}));
  std::string text = fmt::format("No violation in {} {}", chances, of);
  if (below > 0.5) {
    text += ", too few to say how rare one is";
  } else if (below > 0) {
    text += fmt::format(": with 95 % confidence, fewer than 1 in {:.0f} goes wrong",
                        std::floor(1 / below));
  }
  return text + ".";
}

// Explains the word for the figures to first-time readers.
std::string explanation(const subject& s) {
  if (!s.in_table.complete) {
    return "The run did not come to its end. The figures are what had been measured by then, and "
           "are never ranked.";
  }
  if (!s.in_table.valid) {
    return verdict_of(s) == verdict::unknown
               ? "Do not use these figures: the lock answered nothing."
               : "The figures are wrong: do not use them. The verdict on the lock stands.";
  }
  if (s.in_table.bound) {
    return "The harness or the machine was the limit, not the lock: its throughput is at least "
           "(>=) and its times are at most (<=) what stands here.";
  }
  if (is_true(s.at({"verdict", "saturated"}))) {
    return "The lock was offered more than it can do (saturated). The figures are right, but "
           "response times grow with the length of the run.";
  }
  return "The figures are the lock's, as far as the harness can tell of itself.";
}

std::vector<std::string> remarks(const subject& s) {
  std::vector<std::string> all = texts_of(s.in_table.reasons);
  const json& preflight = s.at({"provenance", "preflight"});
  if (preflight.is_array()) {
    for (const json& sentence : preflight) all.push_back("before the run: " + shown(sentence));
  }
  all.insert(all.end(), s.notes.begin(), s.notes.end());
  return all;
}

std::string links_to(const std::vector<subject>& subjects, verdict wanted) {
  std::string items;
  for (const subject& s : subjects) {
    if (verdict_of(s) != wanted) continue;
    items +=
        fmt::format("<li><a href=\"#{}\">{}, {}</a>: {} violations</li>\n", s.id, escaped(s.label),
                    escaped(s.in_table.scenario), escaped(shown(s.at({"verdict", "violations"}))));
  }
  return items;
}

std::string how_many(std::size_t n, std::string_view what) {
  return n == 0 ? std::string() : fmt::format(" {} {}.", n, what);
}

}  // namespace

std::string held_word(const subject& s) {
  const verdict v = verdict_of(s);
  return v == verdict::held ? "held" : v == verdict::broken ? "NOT HELD" : "unknown";
}

std::string figures_word(const subject& s) {
  if (!s.in_table.complete) return "incomplete";
  if (!s.in_table.valid) return "INVALID";
  return s.in_table.bound ? "bound" : "valid";
}

std::string state_of(const subject& s) {
  if (verdict_of(s) == verdict::broken) return "broken";
  if (!s.in_table.valid) return "invalid";
  return s.in_table.bound ? "bound" : "";
}

std::string verdict_banner(const subject& s) {
  const verdict v = verdict_of(s);
  const std::string figures = figures_word(s);
  return fmt::format(
      "<div class=\"verdict {}\">\n<p class=headline>{}</p>\n{}</div>\n"
      "<div class=\"figures {}\">\n<p><strong>Figures: {}.</strong> {}</p>\n{}</div>\n",
      class_of(v), headline(v), paragraph(grounds(s, v)),
      s.in_table.valid ? (s.in_table.bound ? "doubtful" : "good") : "bad", figures,
      escaped(explanation(s)), list(remarks(s)));
}

std::string overview_banner(const std::vector<subject>& subjects) {
  std::size_t held = 0, broken = 0, unknown = 0, invalid = 0, incomplete = 0, bound = 0;
  for (const subject& s : subjects) {
    const verdict v = verdict_of(s);
    ++(v == verdict::held ? held : v == verdict::broken ? broken : unknown);
    const row& r = s.in_table;
    if (!r.complete) {
      ++incomplete;
    } else if (!r.valid) {
      ++invalid;
    } else if (r.bound) {
      ++bound;
    }
  }
  const verdict gravest = broken > 0    ? verdict::broken
                          : unknown > 0 ? verdict::unknown
                                        : verdict::held;
  const std::string word =
      broken > 0 ? fmt::format("\u2716 {} of {} DID NOT HOLD", broken, subjects.size())
      : unknown > 0
          ? fmt::format("? {} of {} held, no verdict on the others", held, subjects.size())
          : fmt::format("\u2714 All {} held", subjects.size());
  const std::string which = links_to(subjects, verdict::broken);
  const std::string figures =
      how_many(bound,
               "of these are bounds: the harness or the machine was the limit, so throughput is at "
               "least and times are at most what stands here") +
      how_many(invalid, "are INVALID: their figures are wrong and not ranked") +
      how_many(incomplete, "are incomplete, and not ranked");
  return fmt::format(
      "<div class=\"verdict {}\">\n<p class=headline>{}</p>\n{}</div>\n"
      "<div class=\"figures {}\">\n<p><strong>Figures: {} of {} valid.</strong>{}</p></div>\n",
      class_of(gravest), word, which.empty() ? "" : fmt::format("<ul>\n{}</ul>\n", which),
      invalid + incomplete > 0 ? "bad"
      : bound > 0              ? "doubtful"
                               : "good",
      subjects.size() - invalid - incomplete, subjects.size(), escaped(figures));
}

}  // namespace lockmark::report::html
