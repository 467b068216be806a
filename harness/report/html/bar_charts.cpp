#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "harness/report/html/charts.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report::html {
namespace {

constexpr std::size_t most_shares = 100;

// Of the run; of a killed run, as far as it had written.
std::uint64_t ended(const subject& s, std::size_t e) {
  if (s.in_table.samples() > 0) return count_of(s.at({"counts", endings[e].key.data()}));
  std::uint64_t sum = 0;
  for (const stretch& t : s.stretches) sum += t.ended[e];
  return sum;
}

// Counts of things other than attempts; shown only if above 0.
constexpr std::array<ending, 9> besides{
    ending{"dropped", "dropped: due, but the backlog was full; no attempts"},
    ending{"release_not_owner", "releases of a lock that was gone"},
    ending{"release_doubt", "releases that were never answered"},
    ending{"release_unavailable", "releases that reached no server"},
    ending{"renewals", "renewals of the lease"},
    ending{"renewals_lost", "renewals that failed: the hold went on without the lock"},
    ending{"renewals_late", "renewals that came after the lease could have ended"},
    ending{"broken_promises", "nested acquires or releases that the lock refused"},
    ending{"holds_stopped", "holds that ended early, because the lease or session was over"}};

// "refused" of "refused: busy, and not tried again": a bar has room for two lines.
std::vector<std::string> label_of(const ending& e) {
  const std::string words(e.words);
  const auto colon = words.find(": ");
  if (colon == std::string::npos) return {words};
  return {words.substr(0, colon), words.substr(colon + 2)};
}

// The clients in groups of `each`, those with the most grants first.
struct share_group {
  std::string name;
  double grants_each = 0;
};

std::vector<share_group> groups_of(const json& grants) {
  std::vector<std::size_t> clients(grants.size());
  std::iota(clients.begin(), clients.end(), std::size_t{0});
  std::stable_sort(clients.begin(), clients.end(), [&](std::size_t a, std::size_t b) {
    return count_of(grants[a]) > count_of(grants[b]);
  });
  const std::size_t each = (clients.size() + most_shares - 1) / most_shares;
  std::vector<share_group> groups;
  for (std::size_t i = 0; i < clients.size(); i += each) {
    const std::size_t end = std::min(i + each, clients.size());
    std::uint64_t sum = 0;
    for (std::size_t k = i; k < end; ++k) sum += count_of(grants[clients[k]]);
    groups.push_back({each == 1 ? fmt::format("client {}", clients[i])
                                : fmt::format("places {} to {}", i + 1, end),
                      static_cast<double>(sum) / static_cast<double>(end - i)});
  }
  return groups;
}

struct cost {
  const char* key;
  const char* what;
  const char* which;
};

constexpr std::array costs{cost{"client_commands_per_grant", "commands", "sent by the clients"},
                           cost{"round_trips_per_grant", "round trips", "a client waited for"},
                           cost{"server_commands_per_grant", "commands", "counted by the server"},
                           cost{"wakeups_per_grant", "wake-ups", "of waiters"}};

}  // namespace

json bars_json(const std::vector<bar>& bars, const std::string& axis, bool logarithmic) {
  json labels = json::array(), values = json::array(), states = json::array();
  for (const bar& b : bars) {
    labels.push_back(b.label);
    // Counts and rates are printed beside their bars, so all their digits are shown.
    const bool large = b.value >= 1000 || std::floor(b.value) == b.value;
    values.push_back(large ? json(std::llround(b.value)) : rounded(b.value));
    states.push_back(b.state);
  }
  return {{"kind", "bars"},   {"labels", labels}, {"values", values},
          {"states", states}, {"axis", axis},     {"logarithmic", logarithmic}};
}

json outcome_chart(const subject& s, chart_sheet& sheet) {
  std::uint64_t attempts = 0;
  for (std::size_t e = 0; e < endings.size(); ++e) attempts += ended(s, e);
  if (attempts == 0) return {};
  json rows = json::array();
  std::vector<bar> bars;
  for (std::size_t e = 0; e < endings.size(); ++e) {
    const std::uint64_t n = ended(s, e);
    if (n == 0 && e > 0) continue;
    const double share = static_cast<double>(n) / static_cast<double>(attempts);
    rows.push_back(
        numbers_row(std::string(endings[e].words), {std::to_string(n), share_text(share)}));
    if (n > 0) bars.push_back({label_of(endings[e]), static_cast<double>(n), ""});
  }
  for (const ending& b : besides) {
    const std::uint64_t n = count_of(s.at({"counts", b.key.data()}));
    if (n == 0) continue;
    rows.push_back(numbers_row(std::string(b.words), {std::to_string(n), "-"}));
    if (b.key == "dropped") bars.push_back({label_of(b), static_cast<double>(n), ""});
  }
  return sheet.place({{"id", s.id + "-outcomes"}, {"rows", rows}},
                     bars_json(bars, "attempts", true));
}

json share_chart(const subject& s, chart_sheet& sheet) {
  const json& grants = s.at({"fairness", "grants_per_client"});  // added after 1.1
  if (!grants.is_array() || grants.empty()) return {};
  double sum = 0;
  for (const json& n : grants) sum += static_cast<double>(count_of(n));
  if (sum == 0) return {};
  json labels = json::array(), values = json::array(), rows = json::array();
  for (const share_group& g : groups_of(grants)) {
    labels.push_back(g.name);
    values.push_back(rounded(100 * g.grants_each / sum));
    rows.push_back(numbers_row(
        g.name, {fmt::format("{:.0f}", g.grants_each), share_text(g.grants_each / sum)}));
  }
  const double even = 100 / static_cast<double>(grants.size());
  return sheet.place(
      {{"id", s.id + "-shares"}, {"even", fmt::format("{:.3g}", even)}, {"rows", rows}},
      {{"kind", "shares"},
       {"labels", labels},
       {"values", values},
       {"even", rounded(even)},
       {"axis", "% of the grants"}});
}

json cost_chart(const subject& s, chart_sheet& sheet) {
  json rows = json::array();
  std::vector<bar> bars;
  for (const cost& c : costs) {
    const json& value = s.at({"cost_per_acquire", c.key});
    if (!value.is_number()) continue;
    bars.push_back({{c.what, c.which}, real_of(value), ""});
    rows.push_back(numbers_row(fmt::format("{} {}", c.what, c.which), {shown_number(value, 2)}));
  }
  if (bars.empty()) return {};
  for (const auto& [key, words] : {std::pair("bytes_out_per_grant", "bytes sent"),
                                   std::pair("bytes_in_per_grant", "bytes received")}) {
    const json& value = s.at({"cost_per_acquire", key});
    if (value.is_number()) rows.push_back(numbers_row(words, {shown_number(value, 1)}));
  }
  return sheet.place({{"id", s.id + "-cost"}, {"rows", rows}}, bars_json(bars, "per grant"));
}

}  // namespace lockmark::report::html
