#include "harness/run/history_checker.hpp"

#include <algorithm>

namespace lockmark::run {

namespace {

constexpr std::size_t most_gaps = 32;

}  // namespace

using check::event;
using check::event_kind;

history_checker::history_checker(const shape& s, const window& w)
    : window_(w),
      lock_has_(s.lock_has),
      wait_ns_(s.wait_ns),
      exclusion_(s.keys, s.clocks, s.holders),
      exposure_(s.keys, s.clients, s.competitors, s.holders),
      tokens_(s.keys, s.clients, s.mixes_readers ? 0 : s.holders, s.clocks),
      updates_(s.keys),
      handoffs_(s.keys, s.clocks != nullptr),
      attempts_(s.clients),
      outcomes_(s.clients) {
  fairness_.reserve(s.keys);
  for (std::size_t k = 0; k < s.keys; ++k) {
    fairness_.emplace_back(static_cast<std::int64_t>(s.competitors));
  }
  found_.grants_by_client.resize(s.clients);
  if (s.keeps_grants) log_.emplace(s.keys, s.clients);
}

// Periods are cut at the window's edges, even without an event near them.
void history_checker::cross_edges(std::int64_t at_ns) {
  const std::int64_t start_ns = window_.start_ns.load(std::memory_order_relaxed);
  const std::int64_t end_ns = window_.end_ns.load(std::memory_order_relaxed);
  if (!in_window_ && !past_window_ && at_ns >= start_ns) {
    in_window_ = true;
    before_window_ = handoffs_.times(start_ns);
    last_grant_ns_ = start_ns;
    exclusion_.window_begins(start_ns);
  }
  if (in_window_ && at_ns >= end_ns) {
    in_window_ = false;
    past_window_ = true;
    end_of_window(end_ns);
  }
}

void history_checker::end_of_window(std::int64_t at_ns) {
  see_gap(at_ns);
  const check::key_times all = handoffs_.times(at_ns);
  found_.held_ns = all.held_ns - before_window_.held_ns;
  found_.idle_while_wanted_ns = all.idle_while_wanted_ns - before_window_.idle_while_wanted_ns;
}

void history_checker::see(const event& e) {
  cross_edges(e.at_ns);
  switch (e.kind) {
    case event_kind::began: return began(e);
    case event_kind::ended: return ended(e);
    case event_kind::granted: return granted(e);
    case event_kind::released: return released(e);
    case event_kind::died: return died(e);
    case event_kind::committed:
      updates_.committed(e);
      exposure_.ended(e);
      change_in_flight(e.at_ns, -1);
      count_outcome(e);
      return count_grant(e);
    case event_kind::doubtful: return updates_.doubtful(e);
    case event_kind::answered: return;
    case event_kind::refused: return exposure_.refused(e);
    case event_kind::promised: return exclusion_.promised(e);
  }
}

void history_checker::began(const event& e) {
  attempts_[e.client] = {e.at_ns, e.at_ns - static_cast<std::int64_t>(e.token), true};
  handoffs_.began(e);
  tokens_.began(e);
  exposure_.began(e);
  if (log_) log_->began(e);
  change_in_flight(e.at_ns, +1);
}

void history_checker::ended(const event& e) {
  handoffs_.ended(e);
  exposure_.ended(e);
  if (log_) log_->ended(e);
  change_in_flight(e.at_ns, -1);
  count_outcome(e);
  if (counts(e.client)) found_.fairness.add_unfinished(e.at_ns - attempts_[e.client].began_ns);
}

// As the totals count it. What was in flight when its process died is nobody's failure.
void history_checker::count_outcome(const event& e) {
  attempt& a = attempts_[e.client];
  const bool counted = a.open && !e.cut && window_.contains(a.due_ns);
  a.open = false;
  if (!counted) return;
  const std::int64_t took_ns = e.at_ns - a.due_ns - e.pipe_ns;
  if (e.kind == event_kind::ended) {
    outcomes_.not_granted(e.client, took_ns);
  } else {
    outcomes_.granted(e.client, took_ns);
  }
}

// Whether the client's attempt began in the window: then its wait counts, wherever it ends.
bool history_checker::counts(std::uint32_t client) const {
  return in_window_ || window_.contains(attempts_[client].began_ns);
}

void history_checker::granted(const event& e) {
  exposure_.granted(e);
  exclusion_.granted(e);
  if (lock_has_.has(feature::fencing_token)) tokens_.granted(e);
  const check::handoff h = handoffs_.granted(e);
  count_outcome(e);
  count_grant(e);
  if (counts(e.client)) found_.fairness.add_unfinished(e.at_ns - attempts_[e.client].began_ns);
  if (h.kind == check::handoff_kind::orphaned) {
    found_.longest_orphaned_ns = std::max(found_.longest_orphaned_ns, h.took_ns);
  }
  if (!in_window_) return;
  found_.handed_ns += h.took_ns;
  if (h.kind == check::handoff_kind::transfer) found_.transfer.record(h.took_ns);
  if (h.kind == check::handoff_kind::self_reacquire) found_.self_reacquire.record(h.took_ns);
}

void history_checker::released(const event& e) {
  if (log_) log_->released(e);
  exposure_.released(e);
  exclusion_.released(e);
  handoffs_.released(e);
  change_in_flight(e.at_ns, -1);
}

// The hold ends with its client, though the server may keep the lock until the lease expires.
void history_checker::died(const event& e) {
  ++found_.orphaned;
  if (log_) log_->released(e);
  exposure_.released(e);
  exclusion_.released(e);
  handoffs_.died(e);
  change_in_flight(e.at_ns, -1);
}

void history_checker::see_gap(std::int64_t until_ns) {
  const std::int64_t gap_ns = until_ns - last_grant_ns_;
  if (gap_ns > found_.longest_gap_ns) {
    found_.longest_gap_ns = gap_ns;
    found_.gap_began_ns = last_grant_ns_;
  }
  if (gap_ns > least_kept_gap_ns_) keep_gap({gap_ns, last_grant_ns_});
  last_grant_ns_ = until_ns;
}

void history_checker::keep_gap(const gap& g) {
  std::vector<gap>& kept = found_.gaps;
  if (kept.size() < most_gaps) return kept.push_back(g);
  *std::ranges::min_element(kept, {}, &gap::length_ns) = g;
  least_kept_gap_ns_ = std::ranges::min(kept, {}, &gap::length_ns).length_ns;
}

void history_checker::count_grant(const event& e) {
  // Including those before the window: a hold hit by a fault may have begun then.
  if (log_) log_->granted(e);
  if (!in_window_) return;
  see_gap(e.at_ns);
  ++found_.grants;
  ++found_.grants_by_client[e.client];
  fairness_[e.key].grant(found_.fairness, e.client, attempts_[e.client].began_ns, e.at_ns);
}

void history_checker::integrate_until(std::int64_t at_ns) {
  const std::int64_t from =
      std::max(integrated_until_ns_, window_.start_ns.load(std::memory_order_relaxed));
  const std::int64_t to = std::min(at_ns, window_.end_ns.load(std::memory_order_relaxed));
  if (to > from) in_flight_area_ns_ += static_cast<__int128>(to - from) * in_flight_;
  integrated_until_ns_ = at_ns;
}

void history_checker::change_in_flight(std::int64_t at_ns, int by) {
  integrate_until(at_ns);
  in_flight_ += by;
}

void history_checker::finish(std::int64_t end_ns) {
  integrate_until(end_ns);
  exclusion_.finish(end_ns);
  for (stats::key_fairness& k : fairness_) k.finish(found_.fairness);
  cross_edges(end_ns);
  if (in_window_) {
    end_of_window(end_ns);
  }
  for (std::uint32_t client = 0; client < attempts_.size(); ++client) {
    const attempt& a = attempts_[client];
    if (a.open && window_.contains(a.due_ns)) outcomes_.not_granted(client, end_ns - a.due_ns);
  }
  const std::int64_t length_ns = window_.end_ns.load() - window_.start_ns.load();
  found_.clients = outcomes_.summarised({length_ns, found_.grants_by_client, wait_ns_});
  if (window_.end_ns.load() != window::never && length_ns > 0) {
    found_.clients_in_flight =
        static_cast<double>(in_flight_area_ns_) / static_cast<double>(length_ns);
  }
}

findings history_checker::result() const {
  findings f = found_;
  if (log_) {
    f.grant_stamps = log_->grants();
    f.unserved = log_->unserved();
  }
  f.certain_violations = exclusion_.certain();
  f.possible_violations = exclusion_.possible();
  f.violations = exclusion_.examples();
  f.overlaps = exclusion_.overlaps();
  f.first_holds = exclusion_.log().first();
  f.violation_holds = exclusion_.log().at_violation();
  f.stale_tokens = tokens_.stale();
  f.lost_updates = updates_.found();
  f.transfers = exclusion_.transfers();
  f.chances = exposure_.chances() + updates_.found();
  f.lasting_holds = exposure_.lasting_holds();
  return f;
}

}  // namespace lockmark::run
