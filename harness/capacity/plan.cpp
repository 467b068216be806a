// From measurements to a deployment plan.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/capacity/study.hpp"
#include "harness/report/text.hpp"

namespace lockmark::capacity {
namespace {

using json = nlohmann::ordered_json;

// Quantile of the normal distribution that is exceeded once in a thousand.
constexpr double one_in_a_thousand = 3.09;

// The rule of three: of n holds none was longer, so with 95 % confidence at most 3/n are.
constexpr double none_seen = 3;

std::string seconds_text(double s) {
  return lockmark::report::duration_text(std::llround(s * 1e9));
}
std::string rate_text(double per_s) {
  return fmt::format("{}/s", lockmark::report::rate_text(per_s));
}

// The highest usual quantile that the samples support.
struct tail {
  double q = 0;
  double s = 0, low_s = 0, high_s = 0;
  bool censored = false;
};

std::optional<tail> tail_of(const stats::histogram& h) {
  for (const double q : {0.999, 0.99, 0.9, 0.5}) {
    const auto i = stats::order_statistic_interval({h, 0, 0}, q);
    if (!i) continue;
    return tail{q, static_cast<double>(h.value_at_quantile(q)) / 1e9,
                static_cast<double>(i->low.value_ns) / 1e9,
                static_cast<double>(i->high.value_ns) / 1e9};
  }
  return std::nullopt;
}

std::optional<tail> tail_of(const std::vector<stats::quantile_estimate>& all) {
  std::optional<tail> best;
  for (const auto& e : all) {
    if (!e.supported || e.q > 0.999 || (best && best->q >= e.q)) continue;
    best = tail{e.q, static_cast<double>(e.value.value_ns) / 1e9,
                static_cast<double>(e.interval.low.value_ns) / 1e9,
                static_cast<double>(e.interval.high.value_ns) / 1e9, e.interval.high.censored};
  }
  return best;
}

std::string range_text(const tail& t) {
  return fmt::format("{} {} to {}{}", quantile_name(t.q), seconds_text(t.low_s),
                     t.censored ? "more than " : "", seconds_text(t.high_s));
}

// Rounds up to two digits.
double generous(double s) {
  if (s <= 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(s)) - 1);
  return std::ceil(s / unit - 1e-9) * unit;
}

// Runs at the confirmed rate, with their durations merged.
struct confirmed {
  stats::histogram hold, release, renewal, loop_lag;
  std::vector<std::string> runs;

  explicit confirmed(const std::vector<observation>& all) {
    for (const observation& o : all) {
      hold.merge(o.hold);
      release.merge(o.release);
      loop_lag.merge(o.loop_lag);
      runs.push_back(o.run);
    }
  }
};

plan_line shards_line(const findings& r, double wanted) {
  const double share = operating_share;
  const auto shards = [&](double edge) {
    return static_cast<std::uint64_t>(std::max(1.0, std::ceil(wanted / (share * edge) - 1e-9)));
  };
  const std::uint64_t most = shards(r.rate->low), least = shards(r.rate->high);
  plan_line l{"shards of the lock",
              std::to_string(most),
              least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most),
              fmt::format("so that each is used at {:.0f} % of {} at most, the confirmed rate",
                          100 * share, rate_text(r.rate->value)),
              r.rate->runs,
              {}};
  l.data = {{"shards", most}, {"shards_low", least}, {"shards_high", most}};
  return l;
}

plan_line edge_line(const findings& r, double wanted, std::uint64_t shards) {
  const double each = wanted / static_cast<double>(shards);
  plan_line l{"distance from the edge",
              fmt::format("{:.0f} %", 100 * (1 - each / r.rate->low)),
              fmt::format("{:.0f} to {:.0f} %", 100 * (1 - each / r.rate->low),
                          100 * (1 - each / r.rate->high)),
              fmt::format("each shard at {} of {}; the load may grow {:.2f} times before the "
                          "objective is at risk",
                          rate_text(each), rate_text(r.rate->value), r.rate->low / each),
              r.rate->runs,
              {}};
  l.data = {{"each_per_s", each},
            {"share_of_edge_low", each / r.rate->high},
            {"share_of_edge_high", each / r.rate->low},
            {"growth_factor_low", r.rate->low / each},
            {"growth_factor_high", r.rate->high / each}};
  return l;
}

std::optional<plan_line> wait_line(const findings& r, const std::vector<observation>& confirming) {
  const auto waits = tail_of(confirming.back().quantiles);
  if (!waits) return std::nullopt;
  std::int64_t limit_ns = 0;
  for (const objective& o : r.objectives) limit_ns = std::max(limit_ns, o.limit_ns);
  const double s = generous(std::max(waits->high_s, static_cast<double>(limit_ns) / 1e9));
  plan_line l{"wait timeout",
              fmt::format("{}{}", waits->censored ? "more than " : "", seconds_text(s)),
              range_text(*waits),
              "above what attempts wait at the confirmed rate, and above the objectives: who waits "
              "longer meets a fault, not the queue",
              {confirming.back().run},
              {}};
  l.data = {{"wait_s", s},
            {"of_quantile", waits->q},
            {"response_s", waits->s},
            {"response_low_s", waits->low_s},
            {"response_high_s", waits->high_s}};
  return l;
}

// Possible delay between the time a renewal is due and the server's reply.
struct lag {
  tail of;
  std::string what;
  std::vector<std::string> runs;
};

std::optional<lag> lag_of(const confirmed& at, const observation* renewing) {
  if (renewing != nullptr) {
    if (const auto t = tail_of(renewing->renewal)) return lag{*t, "renewals", {renewing->run}};
  }
  if (const auto t = tail_of(at.release)) return lag{*t, "releases", at.runs};
  return std::nullopt;
}

// "2.0 a second", "3.1 an hour".
std::string times_text(double per_s) {
  if (per_s >= 1) return fmt::format("{:.1f} a second", per_s);
  if (per_s * 3600 >= 1) return fmt::format("{:.1f} an hour", per_s * 3600);
  return fmt::format("{:.2g} a day", per_s * 86'400);
}

// Twice the longest hold: a lease at a quantile of the holds loses the lock of all above it, which
// at a thousand holds a second and p99.9 is one a second.
std::optional<plan_line> lease_line(const findings& r, const confirmed& at,
                                    const observation* renewing, double wanted) {
  const auto hold = tail_of(at.hold);
  const auto late = lag_of(at, renewing);
  if (!hold || !late) return std::nullopt;
  const double at_quantile = generous(hold->high_s + late->of.high_s);
  const double whole = generous(2 * static_cast<double>(at.hold.max_ns()) / 1e9 + late->of.high_s);
  const double lost = wanted * std::min(1.0, none_seen / static_cast<double>(at.hold.count()));
  const double lost_at_quantile = wanted * (1 - hold->q);
  const double renewed = generous(std::max(3 * 2 * late->of.high_s, 0.1));
  plan_line l{"lease", "", "", "", at.runs, {}};
  l.range = fmt::format("hold {}; {} {}", range_text(*hold), late->what, range_text(late->of));
  if (r.what.leased) {
    l.value = seconds_text(whole);
    l.why = fmt::format(
        "twice the longest of {} holds, and the command that ends it: at the wanted rate at most "
        "{} outlive it and lose the lock (95 %); with {} it would be {}",
        at.hold.count(), times_text(lost), seconds_text(at_quantile), times_text(lost_at_quantile));
    if (r.what.renewable) {
      l.why += fmt::format(
          "; renewed every third, {} are enough for two renewals in a row that "
          "are as late as measured",
          seconds_text(renewed));
    }
  } else {
    l.value = "none";
    l.why = fmt::format(
        "this lock ends with its session or connection; a timeout for those must "
        "be longer than {}",
        seconds_text(whole));
  }
  l.runs.insert(l.runs.end(), late->runs.begin(), late->runs.end());
  l.data = {{"lease_s", r.what.leased ? json(whole) : json()},
            {"losses_per_s_at_most", lost},
            {"lease_of_quantile_s", at_quantile},
            {"losses_per_s_of_quantile", lost_at_quantile},
            {"lease_renewed_every_third_s", r.what.renewable ? json(renewed) : json()},
            {"hold_quantile", hold->q},
            {"hold_s", hold->s},
            {"hold_low_s", hold->low_s},
            {"hold_high_s", hold->high_s},
            {"lag_of", late->what},
            {"lag_quantile", late->of.q},
            {"lag_s", late->of.s},
            {"lag_low_s", late->of.low_s},
            {"lag_high_s", late->of.high_s}};
  return l;
}

// Little's law for the mean; the square root covers all but one in a thousand moments.
plan_line connections_line(const findings& r, const confirmed& at, double wanted) {
  const bounds& wait = r.probes.back().mean_wait_s;
  const auto mean_s = [](const stats::histogram& h) { return h.empty() ? 0 : h.mean_ns() / 1e9; };
  const double rest_s = mean_s(at.hold) + mean_s(at.release);
  const auto pool = [&](double wait_s) {
    const double busy = wanted * (wait_s + rest_s);
    return static_cast<std::uint64_t>(std::ceil(busy + one_in_a_thousand * std::sqrt(busy)));
  };
  const double busy = wanted * (wait.value + rest_s);
  plan_line l{"connections",
              std::to_string(std::max<std::uint64_t>(1, pool(wait.high))),
              fmt::format("{} to {}", pool(wait.low), pool(wait.high)),
              fmt::format("{:.3g} clients wait or hold on average (Little's law, at the waits of "
                          "the confirmed rate); a pool of this size is short in one moment of a "
                          "thousand{}",
                          busy,
                          r.what.shares_session
                              ? "; the servers take them all over one session for each process"
                              : ""),
              at.runs,
              {}};
  l.data = {{"connections_low", pool(wait.low)},
            {"connections_high", pool(wait.high)},
            {"busy_mean", busy}};
  return l;
}

// How many commands one grant costs at the confirmed rate, in commands of one on a key of its own:
// who polls a hot key sends many. 1 if either is unknown.
double cost_of(const findings& r, const std::vector<observation>& confirming) {
  double sum = 0, n = 0;
  for (const observation& o : confirming) {
    if (o.commands_per_grant > 0) sum += o.commands_per_grant, n += 1;
  }
  return n > 0 && r.base->own_commands > 0 ? sum / n / r.base->own_commands : 1;
}

std::optional<plan_line> commands_line(const findings& r,
                                       const std::vector<observation>& confirming, double wanted) {
  double low = HUGE_VAL, high = 0, sum = 0;
  plan_line l{"server commands per second", "", "", "", {}, {}};
  for (const observation& o : confirming) {
    if (o.commands_per_grant <= 0) continue;
    low = std::min(low, o.commands_per_grant);
    high = std::max(high, o.commands_per_grant);
    sum += o.commands_per_grant;
    l.runs.push_back(o.run);
  }
  if (l.runs.empty()) return std::nullopt;
  const double each = sum / static_cast<double>(l.runs.size());
  l.value = rate_text(wanted * each);
  l.range = fmt::format("{} to {}", rate_text(wanted * low), rate_text(wanted * high));
  l.why = fmt::format("{:.2f} per acquire and release, counted by the {}", each,
                      confirming.back().counted_by_server ? "server" : "clients");
  const figure& server = r.base->server_per_s;
  l.data = {{"commands_per_s", wanted * each},
            {"commands_low_per_s", wanted * low},
            {"commands_high_per_s", wanted * high},
            {"commands_per_grant", each}};
  if (server.value > 0) {
    const double share = wanted * cost_of(r, confirming) / server.value;
    l.why += fmt::format(
        "; that is {:.0f} % of the commands that {} on keys of their own took "
        "(run {})",
        100 * share, rate_text(server.value), server.runs.front());
    l.runs.push_back(server.runs.front());
    l.data["share_of_server"] = share;
  }
  return l;
}

// The shards of a lock still share its servers.
std::optional<plan_line> servers_line(const findings& r, const std::vector<observation>& confirming,
                                      double wanted) {
  const figure& server = r.base->server_per_s;
  if (server.value <= 0) return std::nullopt;
  const double cost = cost_of(r, confirming);
  const auto servers = [&](double of) {
    if (!(of > 0) || !std::isfinite(of)) of = server.value;
    const double needed = wanted * cost / (operating_share * of);
    return static_cast<std::uint64_t>(std::max(1.0, std::ceil(needed - 1e-9)));
  };
  const std::uint64_t most = servers(server.low), least = servers(server.high);
  plan_line l{
      "servers like this one",
      std::to_string(most),
      least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most),
      fmt::format("for {}, each {:.3g} times the commands of one on a key of its own, at {:.0f} % "
                  "of what one server does for those; shards beyond that share its limit",
                  rate_text(wanted), cost, 100 * operating_share),
      server.runs,
      {}};
  l.data = {{"servers", most}, {"servers_low", least}, {"servers_high", most}, {"cost", cost}};
  return l;
}

}  // namespace

std::vector<plan_line> make_plan(const findings& r, const std::vector<observation>& confirming,
                                 const observation* renewing, double wanted) {
  std::vector<plan_line> plan;
  if (confirming.empty()) return plan;
  const confirmed at(confirming);
  plan.push_back({"wanted rate",
                  rate_text(wanted),
                  "",
                  "given, or a share of the confirmed rate",
                  {},
                  {{"wanted_per_s", wanted}}});
  plan.push_back(shards_line(r, wanted));
  plan.push_back(edge_line(r, wanted, plan.back().data["shards"].get<std::uint64_t>()));
  const auto add = [&plan](std::optional<plan_line> l) {
    if (l) plan.push_back(std::move(*l));
  };
  add(wait_line(r, confirming));
  add(lease_line(r, at, renewing, wanted));
  add(connections_line(r, at, wanted));
  add(commands_line(r, confirming, wanted));
  add(servers_line(r, confirming, wanted));
  return plan;
}

}  // namespace lockmark::capacity
