// The report for people, readable on a terminal and in a pull request.
#include <fmt/core.h>

#include <cmath>

#include "harness/capacity/report.hpp"
#include "harness/report/markdown.hpp"
#include "harness/report/text.hpp"

namespace lockmark::capacity {
namespace {

std::string time(double s) {
  if (!std::isfinite(s)) return "-";
  return lockmark::report::duration_text(std::llround(std::max(0.0, s) * 1e9));
}
std::string rate(double per_s) {
  if (!std::isfinite(per_s)) return "-";
  return lockmark::report::rate_text(per_s);
}
std::string share(double v) {
  return lockmark::report::share_text(v);
}
// Two digits: most shares are fractions of a percent, and their distance from 1 % matters.
std::string late_share(double v) {
  return v < 0.1 ? fmt::format("{:.2g} %", 100 * v) : fmt::format("{:.0f} %", 100 * v);
}
std::string signed_percent(double v) {
  return std::isfinite(v) ? fmt::format("{:+.0f} %", 100 * v) : "-";
}
std::string between(double value, double low, double high) {
  return fmt::format("{} ({} to {})", time(value), time(low), time(high));
}

// Full names are long and begin with a time; a list of them goes at the end of a row.
std::string list(const std::vector<std::string>& runs) {
  std::string all;
  for (const std::string& run : runs) all += fmt::format("{}`{}`", all.empty() ? "" : ", ", run);
  return all;
}

std::string quantile_text(const stats::quantile_estimate& e) {
  if (!e.supported) return "-";
  const auto one = [](const stats::quantile_ns& t) {
    return fmt::format("{}{}", t.censored ? "> " : "", lockmark::report::duration_text(t.value_ns));
  };
  return fmt::format("{} ({} to {})", one(e.value), one(e.interval.low), one(e.interval.high));
}

std::string headline(const findings& r) {
  std::string objectives;
  for (const objective& o : r.objectives) {
    objectives += fmt::format("{}{}", objectives.empty() ? "" : " and ", print_objective(o));
  }
  if (!r.rate)
    return fmt::format("The search for the highest rate with {} is not over.\n", objectives);
  std::string text = fmt::format("**{}{}/s** with {}", r.nothing_failed ? "at least " : "",
                                 rate(r.rate->value), objectives);
  if (!r.nothing_failed) {
    text += fmt::format("; the edge lies below {}/s with 97.5 %", rate(r.rate->high));
  }
  text += fmt::format(". Operate at {}/s or below.\n", rate(0.8 * r.rate->value));
  if (r.limited_by_harness) {
    text +=
        "\nThe load generator or its machine was the limit at a rate that did not pass: the lock "
        "may do more.\n";
  }
  return text;
}

std::string plan_text(const findings& r) {
  if (r.plan.empty()) return "";
  std::string text = "\n## Plan\n\n| | value | interval | why |\n|---|---|---|---|\n";
  for (const plan_line& l : r.plan) {
    text += fmt::format("| {} | **{}** | {} | {} |\n", l.name, l.value, l.range, l.why);
  }
  text += "\nRuns:\n\n";
  for (const plan_line& l : r.plan) {
    if (!l.runs.empty()) text += fmt::format("* {}: {}\n", l.name, list(l.runs));
  }
  return text;
}

std::string basics_text(const findings& r) {
  if (!r.base) return "";
  const basics& b = *r.base;
  std::string text = "\n## Bounds\n\n| | value | 95 % interval | run |\n|---|---|---|---|\n";
  const auto row = [&](const char* name, const figure& f, auto print, const char* unit) {
    text += fmt::format("| {} | {}{} | {} to {} | {} |\n", name, print(f.value), unit, print(f.low),
                        print(f.high), list(f.runs));
  };
  row("acquire without a rival, mean", b.lone_wait, time, "");
  row("hold, mean", b.hold, time, "");
  if (!r.what.optimistic) {
    row("hand-off to another owner, mean", b.handoff, time, "");
    row("hold + hand-off", b.service, time, "");
  }
  if (b.bound_per_s) row("bound: keys / (hold + hand-off)", *b.bound_per_s, rate, "/s");
  row("all clients, wanting the keys 1.5 times over", b.crowded_per_s, rate, "/s");
  row("all clients on keys of their own, no hold or pause", b.server_per_s, rate, "/s");
  return text;
}

std::string probes_text(const findings& r) {
  if (r.probes.empty()) return "";
  std::string text = "\n## Search\n\n| rate | look |";
  for (const objective& o : r.objectives) {
    const auto limit = lockmark::report::duration_text(o.limit_ns);
    text += fmt::format(" {} | later than {}, of {} allowed |", quantile_name(o.quantile), limit,
                        late_share(o.allowed()));
  }
  text += " granted | backlog growth | |\n|---|---|";
  for (std::size_t i = 0; i < r.objectives.size(); ++i) text += "---|---|";
  text += "---|---|---|\n";
  for (const probed& p : r.probes) {
    text += fmt::format("| {}/s | {}{} |", rate(p.what.rate_per_s),
                        p.what.confirms ? "confirmation " : "", p.what.looks_before + 1);
    for (std::size_t i = 0; i < r.objectives.size(); ++i) {
      const share_bounds& late = p.found.objectives[i].late;
      text += fmt::format(" {} | {} ({} to {}) |",
                          i < p.quantiles.size() ? quantile_text(p.quantiles[i]) : "-",
                          late_share(late.share), late_share(late.low), late_share(late.high));
    }
    text += fmt::format(" {} | {:.2g} to {:.2g}/s | {}{}{} |\n", share(p.found.granted_share),
                        p.found.backlog.low, p.found.backlog.high, name_of(p.verdict),
                        p.harness_to_blame ? ", INVALID" : "",
                        p.pool_was_used_up ? ", all clients busy" : "");
  }
  text += fmt::format(
      "\nProbes locate the edge together, whatever each of them comes to; only a confirmation "
      "decides, from its third look on. Bounds of shares and growth are made for {:.1f} % on each "
      "side ({:.1f} % in confirmations). Quantiles are those of a row's last run with their 95 % "
      "intervals.\n",
      100 * (1 - rate_search::doubt), 100 * (1 - rate_search::doubt_confirming));
  return text;
}

std::string comparison_row(const comparison& c) {
  const auto error = c.quantile_error();
  return fmt::format(
      "{}/s | {:.2f} | {} | {} | {} | {} {} | {} | {} | `{}` |\n", rate(c.rate_per_s),
      c.utilisation, time(c.predicted_mean_s),
      between(c.measured_mean_s.value, c.measured_mean_s.low, c.measured_mean_s.high),
      signed_percent(c.mean_error()), quantile_name(c.quantile), time(c.predicted_quantile_s),
      quantile_text(c.measured), error ? signed_percent(*error) : "-", c.run);
}

constexpr const char* comparison_head =
    "rate | utilisation | predicted mean wait | measured | error | predicted | measured | error | "
    "run |\n";

std::string model_text(const findings& r) {
  if (r.model.empty()) return "";
  std::string text = fmt::format(
      "\n## The queue model (M/G/1) beside the measurement\n\n{}\n\n| {}",
      r.what.fair
          ? "This lock serves its waiters in order, which is what the model describes. Error is "
            "prediction over measurement."
          : "This lock does not serve its waiters in order: the model is what a fair lock with the "
            "same hold and hand-off would do, and the error is how far this one leaves it. Below "
            "zero: "
            "one waits longer than in a queue.",
      comparison_head);
  text += "|---|---|---|---|---|---|---|---|---|\n";
  for (const comparison& c : r.model) text += "| " + comparison_row(c);
  return text;
}

std::string sweep_text(const findings& r) {
  if (r.cells.empty()) return "";
  std::string text =
      "\n## Contention sweep (closed loop, no pause)\n\n| clients | keys | hold | granted/s | "
      "hold + hand-off | bound | of the bound | run |\n|---|---|---|---|---|---|---|---|\n";
  for (const cell& c : r.cells) {
    text += fmt::format("| {} | {} | {} | {} ({} to {}) | {} + {} | {} | {} | {} |\n", c.clients,
                        c.keys, c.hold, rate(c.granted_per_s.value), rate(c.granted_per_s.low),
                        rate(c.granted_per_s.high), time(c.hold_s),
                        c.handoff_s > 0 ? time(c.handoff_s) : "-",
                        c.bound_per_s ? rate(*c.bound_per_s) : "-",
                        c.bound_per_s ? share(c.granted_per_s.value / *c.bound_per_s) : "-",
                        list(c.granted_per_s.runs));
  }
  bool any = false;
  for (const cell& c : r.cells) {
    if (!c.open) continue;
    if (!any) {
      text += fmt::format(
          "\nRandom arrivals at 70 % of the bound of a lock that changes hands, beside the queue "
          "model:\n\n"
          "| clients | keys | hold | {}|---|---|---|---|---|---|---|---|---|---|---|---|\n",
          comparison_head);
    }
    any = true;
    text += fmt::format("| {} | {} | {} | {}", c.clients, c.keys, c.hold, comparison_row(*c.open));
  }
  return text;
}

std::string scaling_text(const findings& r) {
  std::string text;
  for (const scaling& s : r.scalings) {
    if (text.empty()) text = "\n## Scaling of many locks on this server (USL)\n\n";
    text += fmt::format("* keys {}, hold {}: {}", s.keys, s.hold, s.found.says);
    if (s.found.fit) {
      text += fmt::format(
          "; contention {:.3g} ({:.3g} to {:.3g}), coherence {:.2g} ({:.2g} to {:.2g}), worst "
          "residual {:.0f} %",
          s.found.fit->contention, s.found.contention_low, s.found.contention_high,
          s.found.fit->coherence, s.found.coherence_low, s.found.coherence_high,
          100 * s.found.worst_residual);
    }
    text += fmt::format("; runs {}\n", list(s.runs));
  }
  return text;
}

}  // namespace

std::string to_markdown(const findings& r) {
  std::string text = fmt::format("# Capacity of {} on {}\n\n", r.what.lock, r.what.topology);
  text += headline(r);
  for (const std::string& note : r.notes) {
    text += fmt::format("\n> {}\n", lockmark::report::markdown_text(note));
  }
  text += plan_text(r) + basics_text(r) + probes_text(r) + model_text(r) + sweep_text(r) +
          scaling_text(r);
  if (r.probes.empty()) return text;
  text += "\n## Runs of the search\n\n";
  for (std::size_t i = 0; i < r.probes.size(); ++i) {
    // The last look at a rate includes the runs of all looks.
    if (i + 1 < r.probes.size() && r.probes[i + 1].what.looks_before > 0) continue;
    const probed& p = r.probes[i];
    text += fmt::format("* {}{}/s: {}\n", p.what.confirms ? "confirmation of " : "",
                        rate(p.what.rate_per_s), list(p.runs));
  }
  return text;
}

}  // namespace lockmark::capacity
