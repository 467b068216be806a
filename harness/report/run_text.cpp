#include "harness/report/run_text.hpp"

#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <vector>

#include "harness/base/errors.hpp"
#include "harness/report/formats.hpp"
#include "harness/report/markdown.hpp"
#include "harness/report/row.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

struct line {
  std::string label;
  std::string text;
  tone shade = tone::plain;
};

// One run's content, and how to show its figures.
struct subject {
  const json& content;
  row in_table;

  const json& at(const char* section) const { return content.at(section); }
  std::string time(const json& value) const { return time_text(value, in_table.bound); }
};

std::string ms_text(const json& ns) {
  return fmt::format("{:.3f}", ns.get<double>() / 1e6);
}

std::string decimal(const json& value, int decimals) {
  return value.is_null() ? "-" : fmt::format("{:.{}f}", value.get<double>(), decimals);
}

std::string share(const json& value) {
  return value.is_null() ? "-" : share_text(value.get<double>());
}

std::string verdict_text(const subject& s) {
  const json& verdict = s.at("verdict");
  if (verdict.at("held").is_null()) {
    const auto& reasons = s.in_table.reasons;
    if (reasons.empty()) return "unknown";
    return (s.in_table.complete ? "not tested: " : "unknown: ") + text_of(reasons.front());
  }
  const json& exposure = verdict.at("exposure");
  const auto chances = whole_count(exposure.at("chances"));
  const std::string of = exposure.at("of");
  if (!verdict.at("held").get<bool>()) {
    return fmt::format("NOT HELD: {} violations in {} {}", verdict.at("violations").dump(), chances,
                       of);
  }
  if (chances == 0) return fmt::format("held, but there were no {} that could have gone wrong", of);
  const double below = exposure.at("violation_share_below_95");
  if (below > 0.5) {
    return fmt::format("held: no violation in {} {}, too few to say how rare one is", chances, of);
  }
  return fmt::format(
      "held: no violation in {} {} (so, with 95 % confidence, fewer than 1 in {:.0f})", chances, of,
      std::floor(1 / below));
}

tone verdict_tone(const json& held) {
  return held.is_null() ? tone::doubtful : held.get<bool>() ? tone::good : tone::bad;
}

std::string numbers_text(const row& r, const json& verdict) {
  if (!r.complete) return "INCOMPLETE";
  if (!r.valid) return "INVALID: do not use these figures";
  if (r.bound) return "bounds: the harness was the limit; the lock is at least so good";
  if (verdict.at("saturated").get<bool>()) return "valid; saturated: the lock could not keep up";
  return "valid";
}

std::string success_text(const subject& s) {
  const json& counts = s.at("counts");
  if (s.in_table.samples() == 0) return "no attempts";
  std::string text =
      fmt::format("{} of {} attempts", share(s.at("success_rate")), s.in_table.samples());
  std::string others;
  for (const auto& [name, n] : counts.items()) {
    const bool is_ending =
        name != "attempts" && name != "granted" && name != "tries" && name != "renewals";
    if (!is_ending || n == 0) continue;
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", n.dump(), name);
  }
  return others.empty() ? text : text + "; " + others;
}

std::string rate_line(const subject& s) {
  const figure& tps = known_figure("tps");
  const reading& r = s.in_table[tps.name];
  if (!r.value) return "-";
  return fmt::format("{} grants/s over {:.2f} s", cell_text(tps, r, s.in_table.bound),
                     s.at("run").at("window_s").get<double>());
}

std::string quantiles_text(const subject& s, const char* which) {
  const json& all = s.at("quantiles").at(which);
  std::string text;
  for (const json& entry : all.at("quantiles")) {
    if (!entry.at("supported").get<bool>()) continue;
    text += fmt::format("{} {}  ", name_of_quantile(entry.at("q")), s.time(entry.at("value_ns")));
  }
  return text + fmt::format("max {}  mean {}", s.time(all.at("max_ns")), s.time(all.at("mean_ns")));
}

std::string handoff_text(const subject& s) {
  const json& handoff = s.at("handoff");
  if (handoff.at("transfer").is_null()) return "none: an optimistic lock is not handed over";
  const auto part = [&](const char* name) {
    const json& d = handoff.at(name);
    if (d.at("count") == 0) return std::string("none");
    return fmt::format("p50 {} p99 {} ({})", s.time(d.at("p50_ns")), s.time(d.at("p99_ns")),
                       d.at("count").dump());
  };
  return fmt::format("transfer {}; self-reacquire {}; held {}, idle while wanted {} of the time",
                     part("transfer"), part("self_reacquire"), share(handoff.at("held_share")),
                     share(handoff.at("idle_while_wanted_share")));
}

std::string fairness_text(const subject& s) {
  const json& f = s.at("fairness");
  return fmt::format(
      "Jain {} in short windows, {} over the run; {} of grants changed owner; longest wait {}",
      decimal(f.at("jain_windowed"), 2), decimal(f.at("jain_run"), 2),
      share(f.at("owner_change_share")), time_text(f.at("longest_wait_ns")));
}

std::string cost_text(const subject& s) {
  const json& c = s.at("cost_per_acquire");
  return fmt::format(
      "{} commands, {} round trips, {} B out, {} B in, {} wake-ups; the server counted {} commands",
      decimal(c.at("client_commands_per_grant"), 2), decimal(c.at("round_trips_per_grant"), 2),
      decimal(c.at("bytes_out_per_grant"), 0), decimal(c.at("bytes_in_per_grant"), 0),
      decimal(c.at("wakeups_per_grant"), 2), decimal(c.at("server_commands_per_grant"), 2));
}

// Added after the first version of the schema, like preflight and pipe below.
std::string gap_text(const subject& s) {
  if (!s.content.contains("longest_gap")) return "";
  const json& gap = s.at("longest_gap");
  if (gap.at("length_ns").is_null()) return "";
  return fmt::format("{} without a grant at the longest, from {:.2f} s into the window",
                     time_text(gap.at("length_ns")), gap.at("began_ns").get<double>() / 1e9);
}

// Faults and other events during the run.
std::vector<line> mark_lines(const subject& s) {
  std::vector<line> lines;
  if (!s.content.contains("marks")) return lines;
  for (const json& m : s.at("marks")) {
    lines.push_back({lines.empty() ? "meanwhile" : "",
                     fmt::format("at {:.2f} s: {}", m.at("at_s").get<double>(),
                                 m.at("text").get<std::string>())});
  }
  return lines;
}

std::string guard_text(const json& g) {
  const bool fenced = g.at("fenced").get<bool>();
  return fmt::format("{} writes, {} lost updates; a fence would have refused {}",
                     g.at("writes").dump(), g.at("lost_updates").dump(),
                     fenced ? fmt::format("{} accesses", g.at("stale_accesses").dump())
                            : "none, for want of tokens");
}

std::string pipe_text(const subject& s) {
  const json& durations = s.at("durations");
  if (!durations.contains("pipe") || durations.at("pipe").at("count") == 0) return "";
  const json& pipe = durations.at("pipe");
  return fmt::format(
      "the lock client is a process of its own: reaching it cost {} a call in the mean, p50 {}, "
      "p99 {}; taken out of response and service",
      time_text(pipe.at("mean_ns")), time_text(pipe.at("p50_ns")), time_text(pipe.at("p99_ns")));
}

std::string harness_text(const subject& s) {
  const json& d = s.at("durations");
  const json& h = s.at("harness");
  const json& floor = h.at("floor");
  return fmt::format(
      "timer lag p99 {}, loop lag p99 {}, hiccup p99.9 {}; {} cores, busiest thread {}; without a "
      "lock {} cycles/s",
      time_text(d.at("timer_lag").at("p99_ns")), time_text(d.at("loop_lag").at("p99_ns")),
      time_text(d.at("hiccup").at("p999_ns")), decimal(h.at("cpu_cores_used"), 2),
      share(h.at("busiest_worker_share")),
      floor.is_null() ? "-" : decimal(floor.at("cycles_per_s"), 0));
}

std::string holder_text(const json& hold) {
  return fmt::format("{} held it from {} to {} ms{}", hold.at("who").get<std::string>(),
                     ms_text(hold.at("granted_ns")), ms_text(hold.at("release_sent_ns")),
                     hold.at("open_at_end").get<bool>() ? " (end of the run)" : "");
}

constexpr std::size_t examples_shown = 3;

std::vector<line> safety_lines(const subject& s) {
  const json& safety = s.at("safety");
  std::vector<line> lines;
  std::string text = s.in_table.safety_class;
  for (const char* what : {"certain_violations", "possible_violations", "stale_tokens",
                           "lost_updates", "broken_promises"}) {
    if (safety.at(what) == 0) continue;
    std::string words = what;
    for (char& c : words) c = c == '_' ? ' ' : c;
    text += fmt::format("; {} {}", safety.at(what).dump(), words);
  }
  lines.push_back({"safety", text});
  const json& examples = safety.at("examples");
  for (std::size_t i = 0; i < examples.size() && i < examples_shown; ++i) {
    const json& v = examples[i];
    lines.push_back(
        {"violation",
         fmt::format("key {}: {}, {}: {} ms at the same time{}", v.at("key").dump(),
                     holder_text(v.at("first")), holder_text(v.at("second")),
                     ms_text(v.at("overlap_ns")), v.at("certain").get<bool>() ? "" : " (possibly)"),
         tone::bad});
  }
  if (!examples.empty()) {
    lines.push_back({"", "(times since the measured window began)"});
  }
  if (safety.contains("guard") && safety.at("guard").is_object()) {
    lines.push_back({"guard", guard_text(safety.at("guard"))});
  }
  return lines;
}

std::vector<line> lines_of(const subject& s) {
  std::vector<line> lines{{"verdict", verdict_text(s), verdict_tone(s.at("verdict").at("held"))},
                          {"figures", numbers_text(s.in_table, s.at("verdict")),
                           s.in_table.valid ? tone::plain : tone::doubtful}};
  for (const std::string& reason : texts_of(s.in_table.reasons))
    lines.push_back({"", "- " + reason});
  if (s.at("provenance").contains("preflight")) {
    for (const json& sentence : s.at("provenance").at("preflight")) {
      lines.push_back({"preflight", sentence.get<std::string>()});
    }
  }
  const auto marks = mark_lines(s);
  lines.insert(lines.end(), marks.begin(), marks.end());
  const auto safety = safety_lines(s);
  lines.insert(lines.end(), safety.begin(), safety.end());
  lines.push_back({"success", success_text(s)});
  lines.push_back({"rate", rate_line(s)});
  if (s.in_table.samples() > 0) {
    lines.push_back({"response", quantiles_text(s, "response")});
    lines.push_back({"service", quantiles_text(s, "service")});
    lines.push_back({"hand-off", handoff_text(s)});
    lines.push_back({"fairness", fairness_text(s)});
    lines.push_back({"cost", cost_text(s) + " (each per grant)"});
    if (const std::string gap = gap_text(s); !gap.empty()) lines.push_back({"gap", gap});
    if (const std::string pipe = pipe_text(s); !pipe.empty()) lines.push_back({"pipe", pipe});
  }
  lines.push_back({"harness", harness_text(s)});
  return lines;
}

std::string title_of(const json& content) {
  const json& run = content.at("run");
  const json& scenario = run.at("scenario");
  return fmt::format("{}{} on {}", run.at("lock").get<std::string>(),
                     scenario.is_null() ? "" : ", " + scenario.get<std::string>(),
                     run.at("target").get<std::string>());
}

std::string quantile_table(const subject& s) {
  std::string text =
      "| acquire | n | p50 | p90 | p95 | p99 | p99.9 | p99.99 | max | mean |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const char* which : {"response", "service"}) {
    const json& all = s.at("quantiles").at(which);
    text += fmt::format("| {} | {} |", which, all.at("n").dump());
    for (const json& e : all.at("quantiles")) {
      text += fmt::format(" {}", s.time(e.at("value_ns")));
      if (!e.at("low_ns").is_null()) {
        text += fmt::format(" ({} to {})", time_text(e.at("low_ns")), time_text(e.at("high_ns")));
      }
      text += " |";
    }
    text += fmt::format(" {} | {} |\n", s.time(all.at("max_ns")), s.time(all.at("mean_ns")));
  }
  return text +
         "\nIn brackets: 95 % intervals. Response: from the intended start; service: from "
         "the first command sent.\n";
}

std::string provenance_text(const json& content) {
  const json& p = content.at("provenance");
  const json& host = p.at("host");
  std::string text = "<details><summary>Provenance</summary>\n\n";
  const auto add = [&](const std::string& name, const json& value) {
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    text += fmt::format("- {}: {}\n", name, value.is_null() ? "unknown" : markdown_text(shown));
  };
  add("run", content.at("run").at("id"));
  add("started", content.at("run").at("started_utc"));
  add("seed", content.at("run").at("seed"));
  add("lockmark", p.at("lockmark_version"));
  add("revision", p.at("git_revision"));
  add("changed since", p.at("git_dirty"));
  add("compiler", p.at("compiler"));
  add("build", p.at("build_type"));
  for (const auto& [name, value] : host.items()) add("host " + name, value);
  if (p.at("server").is_object()) {
    for (const auto& [name, value] : p.at("server").items()) add(name, value);
  }
  const auto job = p.at("job").get<std::string>();
  return text + fmt::format("\n{}\n</details>\n", markdown_block(job, "yaml"));
}

std::string told(const recorded_run& run, const std::function<std::string(const subject&)>& tell) {
  const subject s{run.content, row_of(run)};
  try {
    return tell(s);
  } catch (const json::exception& e) {
    throw usage_error(
        fmt::format("run {}: its run.json is not as lockmark writes it: {}", run.name, e.what()));
  }
}

}  // namespace

std::string run_summary_terminal(const recorded_run& run, std::size_t width, const style& look) {
  return told(run, [width, &look](const subject& s) {
    constexpr std::size_t indent = 11;
    std::string text = title_of(s.content) + "\n";
    for (const line& l : lines_of(s)) {
      std::string label = l.label;
      for (const std::string& part : wrapped(l.text, width - indent)) {
        text += fmt::format("{:<{}}{}\n", label, indent, look.paint(part, l.shade));
        label.clear();
      }
    }
    return text;
  });
}

std::string verdict_sentence(const recorded_run& run) {
  return told(run, [](const subject& s) { return verdict_text(s); });
}

std::string run_markdown(const recorded_run& run) {
  return told(run, [](const subject& s) {
    std::string text = fmt::format("### {}\n\n", markdown_text(title_of(s.content)));
    for (const line& l : lines_of(s)) {
      if (l.label == "response" || l.label == "service") continue;
      const std::string words = markdown_text(l.text);
      text += l.label.empty() ? fmt::format("  {}\n", words)
                              : fmt::format("- **{}**: {}\n", l.label, words);
    }
    std::string whole = fmt::format("{}\n{}\n", text, quantile_table(s));
    const std::string provenance = provenance_text(s.content);
    if (whole.size() + provenance.size() <= most_markdown_bytes) return whole + provenance;
    whole += "The provenance is left out here for its length; it stands in run.json.\n";
    return markdown_cut(std::move(whole));
  });
}

}  // namespace lockmark::report
