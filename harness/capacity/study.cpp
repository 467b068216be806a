#include "harness/capacity/study.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "harness/base/errors.hpp"
#include "harness/base/lists.hpp"
#include "harness/capacity/observed.hpp"
#include "harness/config/redaction.hpp"

namespace lockmark::capacity {
namespace {

using namespace std::chrono_literals;

constexpr int most_tries = 2;           // of a run spoiled by the harness itself
constexpr double oversubscribed = 1.5;  // a lock under constant demand

duration times(duration d, double factor) {
  return duration{std::llround(static_cast<double>(d.count()) * factor)};
}

// Two hundred that are equally likely; none: nobody waited.
std::vector<double> handoffs_of(const stats::histogram& transfer) {
  std::vector<double> all;
  for (int i = 0; i < 200 && !transfer.empty(); ++i) {
    const std::int64_t ns = transfer.value_at_quantile((i + 0.5) / 200);
    all.push_back(static_cast<double>(ns) / 1e9);
  }
  return all;
}

duration whole_tenths(duration d) {
  constexpr duration tenth = 100ms;
  return (d + tenth - 1ns) / tenth * tenth;
}

}  // namespace

void check_study(const config::job& job, const std::string& name, const settings& s) {
  if (s.objectives.empty()) {
    throw usage_error("--slo: say what must hold, such as --slo 'p99<20ms'");
  }
  if (job.loop != config::loop_kind::open && job.loop != config::loop_kind::poisson) {
    throw usage_error(
        "job {}: load.loop is {}, whose clients wait for a slow lock and so hide it; the highest "
        "rate needs poisson or open, such as --set load.loop=poisson --set load.rate=100/s",
        name, config::text_form<config::loop_kind>::print(job.loop));
  }
  if (!job.faults.empty()) {
    throw usage_error("job {}: has faults; capacity is measured without", name);
  }
  for (const objective& o : s.objectives) {
    if (o.limit_ns < job.wait.count()) continue;
    throw usage_error(
        "--slo {}: attempts give up after {} (wait), so none can be seen to take longer; "
        "give --set wait= more than {}",
        print_objective(o), config::print_duration(job.wait),
        config::print_duration(duration{o.limit_ns}));
  }
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
  last_ = job;
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
  contended_ = {.lone_s = wait.value, .handoffs_s = handoffs_of(crowded.transfer)};
  basics b = basics_of(crowded, wait.value);
  b.lone_wait = figure_of(wait, alone.run);
  b.server_per_s = granted_figure(apart);
  b.own_commands = apart.commands_per_grant;
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
    throw usage_error(
        "--slo {}: no rate can hold it: of a single client without a rival, {:.1f} % of the "
        "attempts take longer than {} (run {})",
        print_objective(o), 100 * late.share, config::print_duration(duration{o.limit_ns}),
        lone.run);
  }
}

void study::refuse_too_few_samples() const {
  const double rate = found_.base->crowded_per_s.value;
  const double at_most_s = std::chrono::duration<double>(settings_.probe_at_most).count();
  if (rate * at_most_s >= attempts_needed()) return;
  const auto most = std::ranges::max_element(settings_.objectives, {}, &objective::quantile);
  throw usage_error(
      "--slo {}: too few samples: it takes {:.0f} attempts to show that it holds, and the lock "
      "does "
      "about {:.3g}/s, {:.0f} in a probe of at most {}; give --probe-at-most {:.0f}m or more, or a "
      "lower quantile",
      print_objective(*most), attempts_needed(), rate, rate * at_most_s,
      config::print_duration(settings_.probe_at_most),
      std::ceil(1.5 * attempts_needed() / std::max(rate, 1e-9) / 60));
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

void study::find_rate() {
  measure_basics();
  refuse_too_few_samples();
  if (!search_beside_replays()) search();
}

// With replays of the same arrivals and holds, some minutes say as much as twenty. False: this lock
// is no queue that could be replayed, and nothing was found.
bool study::search_beside_replays() {
  const bool is_queue = !found_.what.optimistic && !contended_.handoffs_s.empty() &&
                        job_.keys.kind != config::key_choice::shape::own;
  if (!is_queue) return false;
  replay_search search(open_job(job_, 1, usual_plateau), contended_, settings_.objectives);
  std::vector<observation> looks;
  while (const auto p = search.next()) {
    if (p->looks_before == 0) looks.clear();
    bool harness_to_blame = false;
    looks.push_back(plateau(*p, harness_to_blame));
    outcome verdict = outcome::unclear;
    probe_result found = search.tell(last_, looks.back(), verdict);
    if (p->confirms) confirming_ = looks;
    add_probe(*p, std::move(found), verdict, looks, harness_to_blame);
  }
  if (search.gave_up()) {
    found_.notes.push_back(fmt::format(
        "A queue with this lock's holds and hand-offs explains {:.0f} % of how its waits vary, so "
        "the rate was searched for without it.",
        100 * search.explained()));
    return false;
  }
  const double rate = *search.rate_per_s();
  found_.replayed = beside_replays{search.explained(), search.model().scale,
                                   search.model().order == service_order::of_arrival,
                                   search.edge_per_s(), search.minutes_that_hold()};
  settle(rate, search.edge_per_s());
  return true;
}

observation study::plateau(const probe& p, bool& harness_to_blame) {
  const double needed_s = attempts_needed() / p.rate_per_s;
  const duration length =
      std::max<duration>(usual_plateau, whole_tenths(duration{std::llround(1e9 * needed_s)}));
  const config::job job = open_job(job_, p.rate_per_s, length);
  const std::string title = fmt::format("{} {:.5g}/s for {}", p.confirms ? "confirming" : "probing",
                                        p.rate_per_s, config::print_duration(job.stop_duration));
  observation o = run(job, title);
  if (o.worth_repeating) o = run(job, title + " once more");
  harness_to_blame = !o.valid;
  return o;
}

void study::add_probe(const probe& p, probe_result found, outcome verdict,
                      const std::vector<observation>& looks, bool harness_to_blame) {
  probed made;
  made.what = p;
  made.verdict = verdict;
  made.found = std::move(found);
  made.harness_to_blame =
      harness_to_blame && verdict != outcome::passes && !lies_within(made.found);
  made.quantiles = looks.back().quantiles;
  made.mean_wait_s = bound_mean_wait_s(against(looks, 0), doubt_shown);
  for (const observation& o : looks) {
    made.granted_per_s += o.granted_per_s / static_cast<double>(looks.size());
    made.pool_was_used_up |= o.clients_all_busy;
    made.runs.push_back(o.run);
  }
  found_.probes.push_back(std::move(made));
  grown_(found_);
}

void study::search() {
  const double guess = found_.base->crowded_per_s.value;
  const double at_most_s = std::chrono::duration<double>(settings_.probe_at_most).count();
  const double least = std::max(guess / 1000, attempts_needed() / at_most_s);
  const double most = 4 * std::max(guess, least);
  rate_search search(guess, most, rounded(least));
  std::vector<observation> looks;
  while (const auto p = search.next()) {
    probe now = *p;
    now.rate_per_s = rounded(now.rate_per_s);
    if (now.looks_before == 0) looks.clear();
    bool harness_to_blame = false;
    looks.push_back(look_at(now, harness_to_blame));
    probe_result found = result_of(looks, settings_.objectives, now.doubt);
    const outcome verdict = search.tell(found);
    if (now.confirms) confirming_ = looks;
    add_probe(now, std::move(found), verdict, looks, harness_to_blame);
  }
  conclude(search);
}

void study::conclude(const rate_search& search) {
  const probed& last = found_.probes.back();
  if (!search.rate_per_s()) {
    throw usage_error("--slo {}: no rate down to {:.4g}/s could be shown to hold it (last run {})",
                      joined(settings_.objectives, print_objective), last.what.rate_per_s,
                      last.runs.back());
  }
  found_.nothing_failed = !search.edge_below_per_s();
  settle(rounded(*search.rate_per_s()), search.edge_below_per_s());
}

void study::settle(double rate, std::optional<double> edge_below) {
  found_.rate =
      figure{rate, rate, std::max(rate, edge_below.value_or(rate)), found_.probes.back().runs};
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
