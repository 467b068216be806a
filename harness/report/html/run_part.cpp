#include <fmt/core.h>

#include <utility>

#include "harness/report/html/markup.hpp"
#include "harness/report/html/parts.hpp"

namespace lockmark::report::html {
namespace {

void add_distribution(table& t, const char* name, const json& d, bool bound) {
  if (count_of(look(d, {"count"})) == 0) return;
  std::vector<std::string> cells{name, shown(look(d, {"count"}))};
  for (const char* key : {"mean_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns"}) {
    cells.push_back(shown_time(look(d, {key}), bound));
  }
  t.add(std::move(cells));
}

table distribution_table() {
  return table({{"duration"},
                {"count", column::number},
                {"mean", column::number},
                {"p50", column::number},
                {"p99", column::number},
                {"p99.9", column::number},
                {"max", column::number}});
}

std::string handoff_part(const subject& s) {
  const bool bound = s.in_table.bound;
  table t = distribution_table();
  add_distribution(t, "transfer, to another client", s.at({"handoff", "transfer"}), bound);
  add_distribution(t, "self-reacquire, by the same", s.at({"handoff", "self_reacquire"}), bound);
  add_distribution(t, "hold", s.at({"durations", "hold"}), bound);
  add_distribution(t, "release", s.at({"durations", "release"}), bound);
  add_distribution(t, "pipe to the client, taken out", s.at({"durations", "pipe"}), bound);
  if (t.rows() == 0) return {};
  return t.html() +
         paragraph(fmt::format(
             "Hand-off: from the start of a release to the next grant of that key. Held {} of the "
             "time of all keys, idle while wanted {}.",
             shown_share(s.at({"handoff", "held_share"})),
             shown_share(s.at({"handoff", "idle_while_wanted_share"}))));
}

std::string fairness_part(const subject& s, chart_sheet& sheet) {
  const json& f = s.at({"fairness"});
  const auto text = [](const json& value) {
    return value.is_null() ? std::string("-") : shown(value);
  };
  table t({{"fairness"}, {"value", column::number}, {"meaning"}});
  t.add({"Jain, short windows", shown_number(look(f, {"jain_windowed"}), 3),
         "grants per client in windows of four grants a client; 1 is even"});
  t.add({"Jain, whole run", shown_number(look(f, {"jain_run"}), 3), "the same over all grants"});
  t.add({"owner changes", shown_share(look(f, {"owner_change_share"})),
         "grants that went to another client than the last"});
  t.add({"working set", shown_number(look(f, {"working_set_size"}), 1),
         "different winners in a window"});
  t.add({"grants to reacquire", text(look(f, {"grants_to_reacquire_median"})),
         "until the same client wins again, in the median"});
  t.add({"bypass p99", text(look(f, {"bypass_p99"})),
         "grants to others that came later than a waiter, before it was served"});
  t.add({"bypass max", text(look(f, {"bypass_max"})), "the same, the worst case"});
  t.add({"longest wait", shown_time(look(f, {"longest_wait_ns"})), "of any attempt"});
  t.add({"grants per client",
         fmt::format("{} to {}", text(look(f, {"grants_per_client_min"})),
                     text(look(f, {"grants_per_client_max"}))),
         "of the unluckiest and the luckiest"});
  return t.html() + share_chart(s, sheet);
}

std::string server_counters(const subject& s) {
  const json& server = s.at({"cost_per_acquire", "server"});
  const double grants = real_of(s.at({"cost_per_acquire", "grants"}));
  if (!server.is_object() || server.empty()) return {};
  table t({{"counter"}, {"in all", column::number}, {"per grant", column::number}});
  for (const auto& [name, n] : server.items()) {
    if (real_of(n) == 0) continue;
    t.add({name, shown(n), grants > 0 ? fmt::format("{:.3f}", real_of(n) / grants) : "-"});
  }
  if (t.rows() == 0) return {};
  return folded("The server's own counters", t.html());
}

std::string harness_part(const subject& s) {
  table t = distribution_table();
  add_distribution(t, "timer lag", s.at({"durations", "timer_lag"}), false);
  add_distribution(t, "queue lag", s.at({"durations", "queue_lag"}), false);
  add_distribution(t, "loop lag", s.at({"durations", "loop_lag"}), false);
  add_distribution(t, "hiccups of idle threads", s.at({"durations", "hiccup"}), false);
  table facts({{"load"}, {"value", column::number}});
  const json& h = s.at({"harness"});
  facts.add({"cores used", shown_number(look(h, {"cpu_cores_used"}), 2)});
  facts.add({"busiest load thread", shown_share(look(h, {"busiest_worker_share"}))});
  facts.add({"taken by the hypervisor", shown_share(look(h, {"steal_share"}))});
  facts.add({"cycles/s without a lock", shown_number(look(h, {"floor", "cycles_per_s"}), 0)});
  facts.add({"clients in flight, mean",
             shown_number(look(h, {"littles_law", "clients_in_flight_mean"}), 2)});
  facts.add({"off Little's law by", shown_share(look(h, {"littles_law", "relative_difference"}))});
  return (t.rows() > 0 ? t.html() : "") + facts.html();
}

// Nested objects appear as "host.kernel".
void add_facts(table& t, const std::string& prefix, const json& value) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      add_facts(t, prefix.empty() ? key : fmt::format("{}.{}", prefix, key), member);
    }
  } else if (prefix != "job") {
    t.add({prefix, shown(value)});
  }
}

std::string provenance_part(const subject& s) {
  table t({{"what"}, {"value"}});
  t.add({"run folder", s.run.name});
  t.add({"schema version", shown(s.at({"schema_version"}))});
  add_facts(t, "", s.at({"run"}));
  add_facts(t, "", s.at({"provenance"}));
  const json& job = s.at({"provenance", "job"});
  std::string body = t.html();
  if (job.is_string()) body += fmt::format("<pre>{}</pre>\n", escaped(job.get<std::string>()));
  return folded("Provenance: versions, host, server, the whole job", body);
}

}  // namespace

std::string brief_run_part(const subject& s) {
  return verdict_banner(s) + section("Figures", key_figures(s) + quantile_table(s)) +
         section("Safety", safety_part(s)) +
         paragraph(fmt::format("Charts and provenance of this run: lockmark report --format html "
                               "{}",
                               s.run.name));
}

std::string run_part(const subject& s, chart_sheet& sheet) {
  std::string text = verdict_banner(s);
  text += section("Figures", key_figures(s) + quantile_table(s));
  text += section("Latency", percentile_chart(s, sheet));
  text += section("Over time", subsection("Faults and other marks", marks_table(s)) +
                                   heat_chart(s, sheet) + rate_chart(s, sheet));
  text += section("Outcomes", outcome_chart(s, sheet));
  text += section("Hand-off", handoff_part(s));
  text += section("Fairness", fairness_part(s, sheet));
  text += section("Cost", cost_chart(s, sheet) + server_counters(s));
  text += section("Safety", safety_part(s));
  text += section("The harness itself", harness_part(s));
  text += section("Provenance", provenance_part(s));
  return text;
}

}  // namespace lockmark::report::html
