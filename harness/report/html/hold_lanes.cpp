// Who held a key when: a lane for each client, over one time, with what two held at once above it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/report/html/page_data.hpp"

namespace lockmark::report::html {
namespace {

// Clients that came later share the last one.
constexpr std::size_t most_lanes = 20;

struct period {
  double from_ns = 0;
  double to_ns = 0;
};

struct held {
  std::int64_t client = 0;
  period when;
};

struct lane {
  std::int64_t client = 0;
  std::vector<period> holds;
};

std::vector<double> numbers_of(const json& column) {
  std::vector<double> all;
  if (!column.is_array()) return all;
  for (const json& value : column) all.push_back(real_of(value));
  return all;
}

// In order of their beginnings.
std::vector<held> holds_of(const json& log) {
  const std::vector<double> clients = numbers_of(look(log, {"client"}));
  const std::vector<double> from = numbers_of(look(log, {"granted_ns"}));
  const std::vector<double> to = numbers_of(look(log, {"release_sent_ns"}));
  std::vector<held> all;
  for (std::size_t i = 0; i < std::min({clients.size(), from.size(), to.size()}); ++i) {
    all.push_back({static_cast<std::int64_t>(clients[i]), {from[i], std::max(from[i], to[i])}});
  }
  std::ranges::stable_sort(all, {}, [](const held& h) { return h.when.from_ns; });
  return all;
}

std::vector<period> overlaps_of(const json& log) {
  std::vector<period> all;
  const json& overlaps = look(log, {"overlaps"});
  if (!overlaps.is_array()) return all;
  for (const json& one : overlaps) {
    all.push_back({real_of(look(one, {"from_ns"})), real_of(look(one, {"to_ns"}))});
  }
  return all;
}

std::vector<lane> lanes_of(const std::vector<held>& all) {
  std::vector<lane> lanes;
  for (const held& h : all) {
    auto its = std::ranges::find(lanes, h.client, &lane::client);
    if (its == lanes.end()) {
      if (lanes.size() == most_lanes) {
        its = lanes.end() - 1;
      } else {
        its = lanes.insert(lanes.end(), lane{h.client, {}});
      }
    }
    its->holds.push_back(h.when);
  }
  return lanes;
}

std::size_t count_clients(const std::vector<held>& all) {
  std::vector<std::int64_t> clients;
  for (const held& h : all) clients.push_back(h.client);
  std::ranges::sort(clients);
  return static_cast<std::size_t>(
      std::distance(clients.begin(), std::ranges::unique(clients).begin()));
}

period span_of(const std::vector<held>& all) {
  period span = all.front().when;
  for (const held& h : all) span.to_ns = std::max(span.to_ns, h.when.to_ns);
  return span;
}

// Where on the scale, in percent.
json placed(const period& when, const period& span, const std::string& said = "") {
  const double whole = std::max(span.to_ns - span.from_ns, 1.0);
  return {{"left", fmt::format("{:.3f}", 100 * (when.from_ns - span.from_ns) / whole)},
          {"width", fmt::format("{:.3f}", 100 * (when.to_ns - when.from_ns) / whole)},
          {"said", said}};
}

std::string said_of(const period& when) {
  return fmt::format("{:.3f} to {:.3f} ms", when.from_ns / 1e6, when.to_ns / 1e6);
}

// As an end of the scale.
std::string time_of(double ns) {
  return std::abs(ns) < 1e10 ? fmt::format("{:.1f} ms", ns / 1e6)
                             : fmt::format("{:.1f} s", ns / 1e9);
}

json bars_of(const lane& l, const period& span, const std::vector<period>& overlaps) {
  json holds = json::array(), shared = json::array();
  for (const period& h : l.holds) {
    holds.push_back(placed(h, span, said_of(h)));
    for (const period& o : overlaps) {
      const period both{std::max(h.from_ns, o.from_ns), std::min(h.to_ns, o.to_ns)};
      if (both.from_ns < both.to_ns) {
        shared.push_back(placed(both, span, "two holders, " + said_of(both)));
      }
    }
  }
  return {{"holds", std::move(holds)}, {"shared", std::move(shared)}};
}

json picture(const json& log, std::int64_t clients_of_instance) {
  const std::vector<held> all = holds_of(log);
  if (all.empty()) return {};
  const period span = span_of(all);
  std::vector<period> overlaps = overlaps_of(log);
  // Those of holds that are not among these.
  std::erase_if(overlaps, [&](const period& o) { return o.from_ns >= span.to_ns; });
  const std::size_t others = count_clients(all) - std::min(count_clients(all), most_lanes - 1);
  json data{{"key", shown(look(log, {"key"}))},
            {"count", all.size()},
            {"first", look(log, {"which"}) != "violation"},
            {"overlaps", overlaps.empty() ? json(false) : json(overlaps.size())},
            {"from", time_of(span.from_ns)},
            {"to", time_of(span.to_ns)},
            {"lanes", json::array()}};
  const std::vector<lane> lanes = lanes_of(all);
  for (const lane& l : lanes) {
    json one = bars_of(l, span, overlaps);
    const bool is_shared = others > 1 && &l == &lanes.back();
    one["who"] = is_shared ? fmt::format("{} other clients", others)
                           : fmt::format("instance {} client {}", l.client / clients_of_instance,
                                         l.client % clients_of_instance);
    one["held"] = fmt::format("{} hold{}", l.holds.size(), l.holds.size() == 1 ? "" : "s");
    data["lanes"].push_back(std::move(one));
  }
  return data;
}

}  // namespace

json hold_lanes(const subject& s, bool all) {
  json pictures = json::array();
  const json& logs = s.at({"safety", "holds"});  // 1.9
  const auto clients = static_cast<std::int64_t>(real_of(s.at({"run", "clients_per_instance"})));
  for (const json& log : logs.is_array() ? logs : json::array()) {
    const json& overlaps = look(log, {"overlaps"});
    if (!all && (!overlaps.is_array() || overlaps.empty())) continue;
    json one = picture(log, std::max<std::int64_t>(1, clients));
    if (one.is_object()) pictures.push_back(std::move(one));
  }
  return pictures;
}

}  // namespace lockmark::report::html
