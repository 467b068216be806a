#include "harness/capacity/study.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/base/errors.hpp"
#include "harness/capacity/queue_model.hpp"
#include "harness/config/redaction.hpp"

namespace lockmark::capacity {
namespace {

using namespace std::chrono_literals;

constexpr double doubt_shown = 0.025;   // intervals of a report: 95 %
constexpr int most_tries = 2;           // of a run spoiled by the harness itself
constexpr double oversubscribed = 1.5;  // a lock under constant demand

duration times(duration d, double factor) {
  return duration{std::llround(static_cast<double>(d.count()) * factor)};
}

duration whole_tenths(duration d) {
  constexpr duration tenth = 100ms;
  return (d + tenth - 1ns) / tenth * tenth;
}

// Three decimals, as in jobs and in the report.
double rounded(double per_s) {
  return std::max(0.001, std::round(per_s * 1000) / 1000);
}

struct moments {
  double mean_s = 0;
  double second_s2 = 0;
  double mean_error_s = 0;  // standard error
};

moments moments_of(const stats::histogram& h) {
  moments m;
  if (h.empty()) return m;
  double sum = 0;
  h.for_each_bucket([&](std::int64_t low_ns, std::int64_t high_ns, std::int64_t count) {
    const double s = static_cast<double>(low_ns + high_ns) / 2e9;
    sum += s * static_cast<double>(count);
    m.second_s2 += s * s * static_cast<double>(count);
  });
  const auto n = static_cast<double>(h.count());
  m.mean_s = sum / n;
  m.second_s2 /= n;
  m.mean_error_s = std::sqrt(std::max(0.0, m.second_s2 - m.mean_s * m.mean_s) / n);
  return m;
}

figure figure_of(const moments& m, const std::string& run) {
  constexpr double z = 1.96;
  return {
      m.mean_s, std::max(0.0, m.mean_s - z * m.mean_error_s), m.mean_s + z * m.mean_error_s, {run}};
}

figure figure_of(const bounds& b, const std::string& run) {
  return {b.value, b.low, b.high, {run}};
}

// Scales the bounds on attempts per second to grants.
figure granted_figure(const observation& o) {
  figure f{o.granted_per_s, o.granted_per_s, o.granted_per_s, {o.run}};
  if (o.against.empty()) return f;
  const bounds b = bound_attempts_per_s(o.against, doubt_shown);
  if (b.value <= 0) return f;
  f.low = f.value * b.low / b.value;
  f.high = f.value * b.high / b.value;
  return f;
}

// The number of keys if demand is equal; nothing if some keys get more than others.
std::optional<double> equal_keys(const config::key_choice& keys, std::uint64_t clients) {
  using shape = config::key_choice::shape;
  if (keys.kind == shape::zipf || keys.kind == shape::hotspot) return std::nullopt;
  return static_cast<double>(keys.count(clients));
}

std::vector<stretches> against(const std::vector<observation>& looks, std::size_t objective) {
  std::vector<stretches> all;
  for (const observation& o : looks) all.push_back(o.against[objective]);
  return all;
}

probe_result result_of(const std::vector<observation>& looks,
                       const std::vector<objective>& objectives, double doubt) {
  probe_result r;
  double granted = 0;
  for (const observation& o : looks) {
    r.dropped += o.dropped;
    granted += o.granted_share / static_cast<double>(looks.size());
  }
  r.granted_share = granted;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    r.objectives.push_back({objectives[i].allowed(), bound_share(against(looks, i), doubt)});
  }
  r.backlog = bound_growth(against(looks, 0), doubt);
  return r;
}

// The M/G/1 prediction for one key, and the first of the measured quantiles beside it. A client
// that finds the lock free still waits for the servers' reply.
std::optional<comparison> predict_beside(const service_time& of, double lone_wait_s,
                                         double key_per_s,
                                         const std::vector<stats::quantile_estimate>& measured) {
  const auto predicted = predict(of, key_per_s);
  if (!predicted || measured.empty()) return std::nullopt;
  comparison c;
  c.utilisation = predicted->utilisation;
  c.predicted_mean_s = predicted->mean_s + (1 - predicted->utilisation) * lone_wait_s;
  c.quantile = measured.front().q;
  c.predicted_quantile_s = std::max(lone_wait_s, predicted->quantile_s(c.quantile));
  c.measured = measured.front();
  return c;
}

}  // namespace

std::optional<double> comparison::quantile_error() const {
  if (!measured.supported || measured.value.censored || measured.value.value_ns <= 0) {
    return std::nullopt;
  }
  return predicted_quantile_s * 1e9 / static_cast<double>(measured.value.value_ns) - 1;
}

void check_study(const config::job& job, const std::string& name, const settings& s) {
  if (s.objectives.empty()) {
    throw usage_error("--slo: say what must hold, such as --slo 'p99<20ms'");
  }
  if (job.loop != config::loop_kind::open && job.loop != config::loop_kind::poisson) {
    throw usage_error(fmt::format(
        "job {}: load.loop is {}, whose clients wait for a slow lock and so hide it; the highest "
        "rate needs poisson or open, such as --set load.loop=poisson --set load.rate=100/s",
        name, config::text_form<config::loop_kind>::print(job.loop)));
  }
  if (!job.faults.empty()) {
    throw usage_error(fmt::format("job {}: has faults; capacity is measured without", name));
  }
  for (const objective& o : s.objectives) {
    if (o.limit_ns < job.wait.count()) continue;
    throw usage_error(fmt::format(
        "--slo {}: attempts give up after {} (wait), so none can be seen to take longer; "
        "give --set wait= more than {}",
        print_objective(o), config::print_duration(job.wait),
        config::print_duration(duration{o.limit_ns})));
  }
}

basics basics_of(const observation& crowded, double lone_wait_s) {
  basics b;
  const moments hold = moments_of(crowded.hold);
  moments handoff = moments_of(crowded.transfer);
  // If nobody ever waited, a hand-off is a release followed by an acquire.
  if (crowded.transfer.empty()) {
    handoff.mean_s = lone_wait_s + moments_of(crowded.release).mean_s;
    handoff.second_s2 = handoff.mean_s * handoff.mean_s;
  }
  b.hold = figure_of(hold, crowded.run);
  b.handoff = figure_of(handoff, crowded.run);
  b.handoff_second_moment_s2 = handoff.second_s2;
  b.service.value = hold.mean_s + handoff.mean_s;
  const double error = 1.96 * std::hypot(hold.mean_error_s, handoff.mean_error_s);
  b.service.low = std::max(0.0, b.service.value - error);
  b.service.high = b.service.value + error;
  b.service.runs = {crowded.run};
  b.second_moment_s2 = hold.second_s2 + 2 * hold.mean_s * handoff.mean_s + handoff.second_s2;
  b.crowded_per_s = granted_figure(crowded);
  return b;
}

study::study(subject what, config::job job, settings s, runner run, listener grown)
    : settings_(std::move(s)),
      job_(std::move(job)),
      run_(std::move(run)),
      grown_(std::move(grown)) {
  found_.what = std::move(what);
  found_.objectives = settings_.objectives;
  found_.job = config::print_job(config::redacted(job_));
}

config::job study::closed_job() const {
  config::job j = job_;
  j.loop = config::loop_kind::closed;
  j.rate.reset();
  j.think = {};
  j.stop_samples = 0;
  j.stop_duration = settings_.cell;
  j.stop_at_most = std::max<duration>(settings_.cell, j.stop_at_most);
  return j;
}

config::job study::open_job(const config::job& like, double rate_per_s, duration length) const {
  config::job j = like;
  j.loop = job_.loop;
  j.rate = *config::parse_rate(fmt::format("{:.3f}/s", rounded(rate_per_s)));
  j.stop_samples = 0;
  j.stop_duration = length;
  j.stop_at_most = std::max(length, j.stop_at_most);
  return j;
}

double study::attempts_needed() const {
  std::int64_t most = 0;
  for (const objective& o : settings_.objectives) most = std::max(most, o.attempts_needed());
  return static_cast<double>(most);
}

// Long enough that demand for the keys is one and a half times the capacity. Without a pause a
// releasing client would be first in line again, and the lock would never go to another client.
config::distribution study::pause_between(double had_per_s) const {
  const double s = static_cast<double>(job_.clients_in_all()) / (oversubscribed * had_per_s);
  return {config::distribution::shape::exponential, duration{std::llround(s * 1e9)}, {}, 0};
}

// No two runs share a seed: with the same arrivals and holds, a second look, a confirmation or a
// repeated cell would only repeat the first.
observation study::run(config::job job, const std::string& title) {
  job.seed = job_.seed + made_++;
  return run_(job, title);
}

// One client alone; all clients on their own keys; all clients on the job's keys.
void study::measure_basics() {
  config::job lone = closed_job();
  lone.instances = lone.clients = 1;
  lone.participants = 0;
  const observation alone = run(lone, "one client");
  refuse_what_is_hopeless(alone);
  config::job own = closed_job();
  own.keys = {config::key_choice::shape::own};
  own.hold = {};
  const observation apart = run(own, "own keys");
  const auto keys = equal_keys(job_.keys, job_.clients_in_all());
  config::job contended = closed_job();
  contended.think = pause_between(keys.value_or(1) * alone.granted_per_s);
  const observation crowded = run(contended, "all clients");
  const bounds wait = bound_mean_wait_s(alone.against, doubt_shown);
  basics b = basics_of(crowded, wait.value);
  b.lone_wait = figure_of(wait, alone.run);
  b.server_per_s = granted_figure(apart);
  if (keys && b.service.value > 0 && !found_.what.optimistic) {
    b.bound_per_s = figure{*keys / b.service.value, *keys / b.service.high,
                           *keys / std::max(1e-9, b.service.low), b.service.runs};
  }
  found_.base = b;
  grown_(found_);
}

void study::refuse_what_is_hopeless(const observation& lone) const {
  for (std::size_t i = 0; i < settings_.objectives.size(); ++i) {
    const objective& o = settings_.objectives[i];
    const share_bounds late = bound_share(std::vector{lone.against[i]}, rate_search::doubt);
    if (late.low <= o.allowed()) continue;
    throw usage_error(fmt::format(
        "--slo {}: no rate can hold it: of a single client without a rival, {:.1f} % of the "
        "attempts take longer than {} (run {})",
        print_objective(o), 100 * late.share, config::print_duration(duration{o.limit_ns}),
        lone.run));
  }
}

void study::refuse_too_few_samples() const {
  const double rate = found_.base->crowded_per_s.value;
  const double at_most_s = std::chrono::duration<double>(settings_.probe_at_most).count();
  if (rate * at_most_s >= attempts_needed()) return;
  const auto most = std::ranges::max_element(settings_.objectives, {}, &objective::quantile);
  throw usage_error(fmt::format(
      "--slo {}: too few samples: it takes {:.0f} attempts to show that it holds, and the lock "
      "does "
      "about {:.3g}/s, {:.0f} in a probe of at most {}; give --probe-at-most {:.0f}m or more, or a "
      "lower quantile",
      print_objective(*most), attempts_needed(), rate, rate * at_most_s,
      config::print_duration(settings_.probe_at_most),
      std::ceil(1.5 * attempts_needed() / std::max(rate, 1e-9) / 60)));
}

// A run spoiled by the harness is no evidence against the lock, so it is repeated; one that looks
// good in spite of it may stand.
observation study::look_at(const probe& p, bool& harness_to_blame) {
  const double needed_s = attempts_needed() / p.rate_per_s;
  const double usual_s = std::chrono::duration<double>(settings_.probe).count();
  const duration unit =
      std::min(settings_.probe_at_most, duration{std::llround(1e9 * std::max(usual_s, needed_s))});
  const config::job job = open_job(job_, p.rate_per_s, whole_tenths(times(unit, p.length)));
  const std::string title = fmt::format("{} {:.5g}/s for {}", p.confirms ? "confirming" : "probing",
                                        p.rate_per_s, config::print_duration(job.stop_duration));
  observation o = run(job, title);
  for (int i = 1; i < most_tries && o.worth_repeating; ++i) {
    const auto r = result_of({o}, settings_.objectives, p.doubt);
    if (judge(r) != outcome::fails) break;  // an unclear one gets another look anyway
    o = run(job, title + " once more");
  }
  harness_to_blame |= !o.valid;
  return o;
}

probed study::make_probe(const probe& p, std::vector<observation>& looks) {
  if (p.looks_before == 0) looks.clear();
  probed made;
  made.what = p;
  looks.push_back(look_at(p, made.harness_to_blame));
  made.found = result_of(looks, settings_.objectives, p.doubt);
  made.quantiles = looks.back().quantiles;
  made.mean_wait_s = bound_mean_wait_s(against(looks, 0), doubt_shown);
  for (const observation& o : looks) {
    made.granted_per_s += o.granted_per_s / static_cast<double>(looks.size());
    made.pool_was_used_up |= o.clients_all_busy;
    made.runs.push_back(o.run);
  }
  return made;
}

void study::find_rate() {
  measure_basics();
  refuse_too_few_samples();
  const double guess = found_.base->crowded_per_s.value;
  const double at_most_s = std::chrono::duration<double>(settings_.probe_at_most).count();
  const double least = std::max(guess / 1000, attempts_needed() / at_most_s);
  const double most = 4 * std::max(guess, least);
  rate_search search(guess, most, rounded(least));
  std::vector<observation> looks;
  while (const auto p = search.next()) {
    probe now = *p;
    now.rate_per_s = rounded(now.rate_per_s);
    probed made = make_probe(now, looks);
    made.verdict = search.tell(made.found);
    made.harness_to_blame &= made.verdict != outcome::passes && !lies_within(made.found);
    found_.probes.push_back(std::move(made));
    if (now.confirms) confirming_ = looks;
    grown_(found_);
  }
  conclude(search);
}

void study::conclude(const rate_search& search) {
  const probed& last = found_.probes.back();
  if (!search.rate_per_s()) {
    std::string all;
    for (const objective& o : settings_.objectives) {
      all += fmt::format("{}{}", all.empty() ? "" : ", ", print_objective(o));
    }
    throw usage_error(
        fmt::format("--slo {}: no rate down to {:.4g}/s could be shown to hold it (last run {})",
                    all, last.what.rate_per_s, last.runs.back()));
  }
  const double rate = rounded(*search.rate_per_s());
  const auto edge_below = search.edge_below_per_s();
  found_.rate = figure{rate, rate, std::max(rate, edge_below.value_or(rate)), last.runs};
  found_.nothing_failed = !edge_below;
  found_.limited_by_harness = std::ranges::any_of(found_.probes, [&](const probed& p) {
    return p.harness_to_blame && p.what.rate_per_s <= found_.rate->high;
  });
  const auto& bound = found_.base->bound_per_s;
  if (bound && rate > bound->high) {
    found_.notes.push_back(fmt::format(
        "The confirmed rate is above the bound of {:.4g}/s: holds or hand-offs took longer in the "
        "run that the bound comes from (run {}), so the machine or the server was not steady.",
        bound->value, bound->runs.front()));
  }
  compare_with_model();
  grown_(found_);
}

// One line per rate that clearly held or was to be confirmed; probes in between are short.
void study::compare_with_model() {
  const auto keys = equal_keys(job_.keys, job_.clients_in_all());
  if (!keys || found_.what.optimistic || job_.loop != config::loop_kind::poisson) return;
  for (std::size_t i = 0; i < found_.probes.size(); ++i) {
    const probed& p = found_.probes[i];
    const bool last_look =
        i + 1 == found_.probes.size() || found_.probes[i + 1].what.looks_before == 0;
    const bool held = p.verdict == outcome::passes || (p.what.confirms && lies_within(p.found));
    if (!held || !last_look) continue;
    if (const auto c = compare(p, *keys)) found_.model.push_back(*c);
  }
  std::ranges::stable_sort(found_.model, {}, &comparison::rate_per_s);
}

std::optional<comparison> study::compare(const probed& p, double keys) const {
  const service_time service{found_.base->service.value, found_.base->second_moment_s2};
  auto c =
      predict_beside(service, found_.base->lone_wait.value, p.granted_per_s / keys, p.quantiles);
  if (!c) return std::nullopt;
  c->rate_per_s = p.what.rate_per_s;
  c->measured_mean_s = p.mean_wait_s;
  c->run = p.runs.back();
  return c;
}

void study::sweep() {
  if (!settings_.sweeps || settings_.clients.empty() || !found_.base) return;
  const std::vector<config::key_choice> keys =
      settings_.keys.empty() ? std::vector{job_.keys} : settings_.keys;
  const std::vector<config::distribution> holds =
      settings_.holds.empty() ? std::vector{job_.hold} : settings_.holds;
  for (const auto& k : keys) {
    for (const auto& h : holds) {
      const std::size_t first = found_.cells.size();
      for (std::uint64_t i = 0; i < settings_.repeats; ++i) {
        for (const std::uint64_t clients : settings_.clients) sweep_cell(clients, k, h);
      }
      if (k.kind != config::key_choice::shape::own) continue;
      scaling s{config::print_key_choice(k), config::print_distribution(h), {}, {}};
      std::vector<throughput> points;
      for (std::size_t i = first; i < found_.cells.size(); ++i) {
        const cell& c = found_.cells[i];
        points.push_back({static_cast<double>(c.clients), c.granted_per_s.value});
        s.runs.push_back(c.granted_per_s.runs.front());
      }
      s.found = find_usl(points, job_.seed);
      found_.scalings.push_back(std::move(s));
      grown_(found_);
    }
  }
}

void study::sweep_cell(std::uint64_t clients, const config::key_choice& keys,
                       const config::distribution& hold) {
  config::job closed = closed_job();
  closed.instances = std::gcd(clients, job_.instances);
  closed.clients = clients / closed.instances;
  closed.participants = std::min(closed.participants, closed.instances);
  closed.keys = keys;
  closed.hold = hold;
  cell c;
  c.clients = clients;
  c.keys = config::print_key_choice(keys);
  c.hold = config::print_distribution(hold);
  const std::string title = fmt::format("{} clients, keys {}, hold {}", clients, c.keys, c.hold);
  const observation o = run(closed, title);
  stats::histogram handoffs = o.transfer;
  handoffs.merge(o.self_reacquire);
  c.granted_per_s = granted_figure(o);
  c.hold_s = moments_of(o.hold).mean_s;
  c.handoff_s = moments_of(handoffs).mean_s;
  const auto equal = equal_keys(keys, clients);
  if (equal && !found_.what.optimistic && c.hold_s + c.handoff_s > 0) {
    // With idle keys, hand-offs measure how long nobody wanted them.
    const auto all = static_cast<double>(clients);
    const bool idle_keys = all < *equal;
    const double between_holds = idle_keys ? found_.base->lone_wait.value : c.handoff_s;
    c.bound_per_s = std::min(all, *equal) / (c.hold_s + between_holds);
    if (all > *equal) c.open = random_arrivals(closed, *equal, o);
  }
  found_.cells.push_back(std::move(c));
  grown_(found_);
}

// The same lock at 70 % of its bound, with random arrivals, as M/G/1 assumes. The lock then goes
// from owner to owner, so the hand-off is that of the run before the search.
std::optional<comparison> study::random_arrivals(const config::job& closed, double keys,
                                                 const observation& of) {
  constexpr double usual_share = 0.7;
  const moments hold = moments_of(of.hold);
  const basics& base = *found_.base;
  const service_time service{
      hold.mean_s + base.handoff.value,
      hold.second_s2 + 2 * hold.mean_s * base.handoff.value + base.handoff_second_moment_s2};
  const double rate = rounded(usual_share * keys * most_grants_per_s(service));
  config::job job = open_job(closed, rate, settings_.cell);
  job.loop = config::loop_kind::poisson;
  const observation o =
      run(job, fmt::format("{} clients at {:.4g}/s", closed.clients_in_all(), rate));
  auto result = predict_beside(service, base.lone_wait.value, o.granted_per_s / keys, o.quantiles);
  if (!result) return std::nullopt;
  result->rate_per_s = rate;
  result->measured_mean_s = bound_mean_wait_s(o.against, doubt_shown);
  result->run = o.run;
  return result;
}

// Leases so short that they are renewed many times, by clients that do not contend.
void study::plan() {
  if (!found_.rate || !found_.base) return;
  std::optional<observation> renewing;
  if (found_.what.renewable) {
    config::job j = closed_job();
    j.keys = {config::key_choice::shape::own};
    j.renew = true;
    j.lease = 600ms;
    j.hold = {config::distribution::shape::constant, 1s, {}, 0};
    renewing = run(j, "renewing leases");
  }
  const double wanted = settings_.wanted_per_s.value_or(operating_share * found_.rate->value);
  found_.plan = make_plan(found_, confirming_, renewing ? &*renewing : nullptr, wanted);
  grown_(found_);
}

}  // namespace lockmark::capacity
