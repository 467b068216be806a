#include "harness/report/run_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "harness/base/lists.hpp"
#include "harness/report/cause.hpp"
#include "harness/report/formats.hpp"
#include "harness/report/markdown.hpp"
#include "harness/report/row.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {

extern const lockmark::templates::texts templates;

namespace {

struct line {
  std::string label;
  std::string text;
  tone shade = tone::plain;
};

std::string verdict_text(const json& content, const row& r) {
  const json& verdict = content.at("verdict");
  if (r.untested) return text_of(*r.untested);
  if (verdict.at("held").is_null()) {
    return r.reasons.empty() ? "unknown" : "unknown: " + text_of(r.reasons.front());
  }
  if (!verdict.at("held").get<bool>()) {
    const std::string violations = verdict.at("violations").dump();
    return fmt::format("NOT HELD: {} violation{}", violations, violations == "1" ? "" : "s");
  }
  const json& exposure = verdict.at("exposure");
  const auto chances = whole_count(exposure.at("chances"));
  const std::string of = exposure.at("of");
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

std::string figures_text(const json& content, const row& r) {
  if (!r.complete) return "INCOMPLETE";
  if (!r.valid) return "INVALID: do not use these figures";
  if (r.bound) return "bounds: the harness was the limit; actual performance is at least this good";
  if (content.at("verdict").at("saturated").get<bool>())
    return "valid; saturated: the lock could not keep up";
  return "valid";
}

std::string success_text(const json& content, const row& r) {
  if (r.samples() == 0) return "no attempts";
  std::vector<std::string> others;
  for (const auto& [name, n] : content.at("counts").items()) {
    const bool is_ending =
        name != "attempts" && name != "granted" && name != "tries" && name != "renewals";
    if (is_ending && n != 0) others.push_back(fmt::format("{} {}", n.dump(), name));
  }
  return fmt::format("{} of {} attempts{}{}", shown_share(content.at("success_rate")), r.samples(),
                     others.empty() ? "" : "; ", joined(others));
}

std::string rate_text_of(const json& content, const row& r) {
  const figure& tps = known_figure("tps");
  const reading& grants = r[tps.name];
  if (!grants.value) return "-";
  return fmt::format("{} grants/s over {:.2f} s", cell_text(tps, grants, r.bound),
                     content.at("run").at("window_s").get<double>());
}

// What was found beside "held": "; 7 certain violations".
json findings(const json& safety) {
  json found = json::array();
  for (const char* what : {"certain_violations", "possible_violations", "stale_tokens",
                           "lost_updates", "broken_promises"}) {
    if (safety.at(what) == 0) continue;
    std::string words = what;
    std::ranges::replace(words, '_', ' ');
    found.push_back({{"times", safety.at(what)}, {"what", words}});
  }
  return found;
}

// The content, and what its lines say beyond it.
json data_of(const json& content, const row& r) {
  constexpr std::size_t examples_shown = 3;
  json data = content;
  data["verdict_says"] = verdict_text(content, r);
  data["figures_are"] = figures_text(content, r);
  std::vector<message> of_figures = r.reasons;
  if (r.untested) std::erase(of_figures, *r.untested);
  data["reasons"] = texts_of(of_figures);
  data["found"] = findings(content.at("safety"));
  json examples = content.at("safety").at("examples");
  while (examples.size() > examples_shown) examples.erase(examples.size() - 1);
  for (const json& each : examples) {
    if (each.at("second").at("granted_ns") < 0) data["in_warmup"] = true;
  }
  data["examples"] = std::move(examples);
  if (content.contains("marks") && !content.at("marks").empty()) data["marks"][0]["first"] = true;
  data["cause"] = fault_at_violation(content);
  data["success"] = success_text(content, r);
  data["rate"] = rate_text_of(content, r);
  data["bound"] = r.bound;
  return data;
}

// A line of the template is one of the text.
std::string on_one_line(const std::string& text) {
  std::string line = text;
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

std::vector<line> lines_of(const json& data, const row& r) {
  std::istringstream text(
      templates::filled({templates, on_one_line, formatted, true}, "run_lines", data));
  std::vector<line> lines;
  for (std::string each; std::getline(text, each);) {
    const auto tab = each.find('\t');
    line& l = lines.emplace_back(line{each.substr(0, tab), each.substr(tab + 1)});
    if (l.label == "verdict") l.shade = verdict_tone(data.at("verdict").at("held"));
    if (l.label == "figures" && !r.valid) l.shade = tone::doubtful;
    if (l.label == "violation") l.shade = tone::bad;
  }
  return lines;
}

std::string title_of(const json& content) {
  const json& run = content.at("run");
  const json& scenario = run.at("scenario");
  return fmt::format("{}{} on {}", run.at("lock").get<std::string>(),
                     scenario.is_null() ? "" : ", " + scenario.get<std::string>(),
                     run.at("target").get<std::string>());
}

json facts_of(const json& provenance) {
  json facts = json::array();
  for (const char* group : {"host", "server"}) {
    const std::string before = std::string_view(group) == "host" ? "host " : "";
    for (const auto& [name, value] : provenance.at(group).items()) {
      facts.push_back({{"name", before + name}, {"value", value}});
    }
  }
  return facts;
}

std::optional<std::string> formatted_safely(const std::string& format, const json& value,
                                            const templates::lookup& get) {
  return format == "safe" ? markdown_text(shown(value)) : formatted(format, value, get);
}

}  // namespace

std::string run_summary_terminal(const recorded_run& run, std::size_t width, const style& look) {
  const row r = row_of(run);
  return from_content(run, [&](const json& content) {
    constexpr std::size_t indent = 11;
    std::string text = title_of(content) + "\n";
    std::vector<line> lines = lines_of(data_of(content, r), r);
    // What scrolled away is what matters most.
    const auto verdict = std::ranges::find(lines, "verdict", &line::label);
    if (verdict != lines.end()) lines.push_back(*verdict);
    for (const line& l : lines) {
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
  const row r = row_of(run);
  return from_content(run, [&](const json& content) { return verdict_text(content, r); });
}

std::string run_markdown(const recorded_run& run) {
  const row r = row_of(run);
  return from_content(run, [&](const json& content) {
    json data = data_of(content, r);
    data["title"] = title_of(content);
    data["lines"] = json::array();
    for (const line& l : lines_of(data, r)) {
      if (l.label == "response" || l.label == "service") continue;
      data["lines"].push_back({{"label", l.label}, {"says", l.text}});
    }
    data["facts"] = facts_of(content.at("provenance"));
    data["job_block"] =
        markdown_block(content.at("provenance").at("job").get<std::string>(), "yaml");
    const auto text = [&] {
      return templates::filled({templates, templates::unchanged, formatted_safely, true},
                               "run_markdown", data);
    };
    std::string whole = text();
    if (whole.size() <= most_markdown_bytes) return whole;
    data["long"] = true;
    return markdown_cut(text());
  });
}

}  // namespace lockmark::report
