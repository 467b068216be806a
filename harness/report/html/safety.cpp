#include <fmt/core.h>

#include <algorithm>

#include "harness/report/html/markup.hpp"
#include "harness/report/html/parts.hpp"

namespace lockmark::report::html {
namespace {

constexpr std::size_t most_examples = 20;

std::string ms_text(const json& ns) {
  return ns.is_number() ? fmt::format("{:.3f}", ns.get<double>() / 1e6) : "-";
}

std::string interval_text(const json& hold) {
  return fmt::format("{} to {} ms{}", ms_text(look(hold, {"granted_ns"})),
                     ms_text(look(hold, {"release_sent_ns"})),
                     is_true(look(hold, {"open_at_end"})) ? " (never released)" : "");
}

std::string token_text(const json& hold) {
  const std::uint64_t token = count_of(look(hold, {"token"}));
  return token == 0 ? "" : fmt::format(", token {}", token);
}

// A hold as a bar on the scale from `from` (0 %) to `to` (100 %).
std::string hold_bar(const json& hold, double from, double to) {
  const double begin = real_of(look(hold, {"granted_ns"}));
  const double end = real_of(look(hold, {"release_sent_ns"}));
  const double whole = std::max(to - from, 1.0);
  return fmt::format(
      "<div class=lane><div class=hold style=\"margin-left:{:.2f}%;width:{:.2f}%\"></div></div>\n"
      "<div class=holder>{}: {}{}</div>\n",
      100 * (begin - from) / whole, std::max(100 * (end - begin) / whole, 0.5),
      escaped(shown(look(hold, {"who"}))), interval_text(hold), token_text(hold));
}

// Both holds, one above the other on the same scale, and their overlap.
std::string example(const json& v) {
  const json& first = look(v, {"first"});
  const json& second = look(v, {"second"});
  const auto at = [](const json& hold, const char* key) { return real_of(look(hold, {key})); };
  const double from = std::min(at(first, "granted_ns"), at(second, "granted_ns"));
  const double to = std::max(at(first, "release_sent_ns"), at(second, "release_sent_ns"));
  return fmt::format(
      "<div class=overlap>\n<p><strong>Key {}: two holders for {} ms</strong>{}</p>\n{}{}</div>\n",
      escaped(shown(look(v, {"key"}))), ms_text(look(v, {"overlap_ns"})),
      is_true(look(v, {"certain"})) ? "" : " (possibly: no longer than the clocks' error)",
      hold_bar(first, from, to), hold_bar(second, from, to));
}

table counts_of(const subject& s) {
  table t({{"found"}, {"times", column::number}, {"meaning"}});
  const auto add = [&](const char* key, const char* name, const char* meaning) {
    const json& n = s.at({"safety", key});
    t.add({name, n.is_null() ? "-" : shown(n), meaning});
  };
  add("certain_violations", "certain violations",
      "two owners held a key at once, for longer than the clocks' error");
  add("possible_violations", "possible violations", "the same, but within the clocks' error");
  add("stale_tokens", "stale tokens", "a grant whose fencing token was not higher than the last");
  add("lost_updates", "lost updates", "optimistic locks: a commit that another one overwrote");
  add("broken_promises", "broken promises", "nested acquires or releases that the lock refused");
  return t;
}

}  // namespace

std::string safety_part(const subject& s) {
  std::string text = paragraph(
      fmt::format("This lock promises at best: {}.", shown(s.at({"verdict", "safety_class"}))));
  const json& holders = s.at({"safety", "holders_allowed"});  // 1.1
  if (holders.is_number() && holders != 1) {
    text += paragraph(fmt::format("{} clients may hold a key at once.", shown(holders)));
  }
  text += counts_of(s).html();
  const json& examples = s.at({"safety", "examples"});
  if (!examples.is_array() || examples.empty()) return text;
  std::string shown_examples;
  for (std::size_t i = 0; i < examples.size() && i < most_examples; ++i) {
    shown_examples += example(examples[i]);
  }
  return text + subsection("Who held it, from when to when", shown_examples) +
         paragraph(
             "Times since the measured window began; from the grant to the sending of the "
             "release.");
}

}  // namespace lockmark::report::html
