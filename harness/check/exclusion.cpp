#include "harness/check/exclusion.hpp"

#include <algorithm>
#include <utility>

namespace lockmark::check {
namespace {

constexpr std::size_t most_overlaps = 10'000;

}  // namespace

exclusion::exclusion(std::size_t keys, const clock_errors* clocks, std::uint32_t holders,
                     std::size_t keep)
    : keys_(keys), clocks_(clocks), holders_(holders), keep_(keep) {}

void exclusion::granted(const event& e) {
  key_state& state = keys_[e.key];
  if (state.last_client != none && state.last_client != e.client) {
    ++transfers_;
    log_.handed_over(e.key);
  }
  state.last_client = e.client;
  const hold entered{
      .client = e.client, .token = e.token, .granted_ns = e.at_ns, .shared = e.shared};
  find_overlaps(state, entered, e.key);
  state.open.push_back(entered);
}

// An exclusive lock is violated once for each other holder; a semaphore once for each grant beyond
// its leases, which is then reported with the longest-standing holder.
void exclusion::find_overlaps(key_state& state, const hold& entered, std::uint32_t key) const {
  if (holders_ == 0) return;
  std::vector<std::uint32_t> others;
  for (const hold& other : state.open) {
    if (other.client == entered.client || (other.shared && entered.shared)) continue;
    if (holders_ == 1) {
      state.pairs.push_back({.key = key, .first = other, .second = entered});
    } else if (std::find(others.begin(), others.end(), other.client) == others.end()) {
      others.push_back(other.client);
    }
  }
  if (holders_ == 1 || others.size() < holders_) return;
  const auto oldest = std::find_if(state.open.begin(), state.open.end(),
                                   [&](const hold& h) { return h.client != entered.client; });
  state.pairs.push_back({.key = key, .first = *oldest, .second = entered});
}

std::vector<hold>::iterator exclusion::hold_of(key_state& state, std::uint32_t client) {
  return std::ranges::find(state.open, client, &hold::client);
}

// The latest promise counts: a renewed lease ends later.
void exclusion::promised(const event& e) {
  key_state& state = keys_[e.key];
  const auto mine = hold_of(state, e.client);
  if (mine != state.open.end()) mine->promised_ns = static_cast<std::int64_t>(e.token);
}

void exclusion::released(const event& e) {
  key_state& state = keys_[e.key];
  const auto mine = hold_of(state, e.client);
  if (mine == state.open.end()) return;
  close(e.key, static_cast<std::size_t>(mine - state.open.begin()), e.at_ns, false);
}

void exclusion::close(std::uint32_t key, std::size_t place, std::int64_t at_ns, bool at_end) {
  key_state& state = keys_[key];
  hold ended = state.open[place];
  ended.release_sent_ns = std::min(at_ns, ended.promised_ns);
  ended.open_at_end = at_end && ended.release_sent_ns == at_ns;
  state.open.erase(state.open.begin() + static_cast<std::ptrdiff_t>(place));
  log_.ended(key, ended);
  if (state.pairs.empty()) return;

  const auto is_ended = [&](const hold& h) {
    return h.client == ended.client && h.granted_ns == ended.granted_ns;
  };
  std::vector<violation> waiting;
  for (violation& pair : state.pairs) {
    const bool ends_first = is_ended(pair.first), ends_second = is_ended(pair.second);
    if (ends_first) pair.first = ended;
    if (ends_second) pair.second = ended;
    const bool whole = pair.first.release_sent_ns != 0 && pair.second.release_sent_ns != 0;
    if (whole) {
      settle(pair);
    } else {
      waiting.push_back(pair);
    }
  }
  state.pairs = std::move(waiting);
}

// Holds that only touch, or that seem to overlap because a grant and a release share an instant,
// are no violation.
void exclusion::settle(violation v) {
  v.overlap_ns = std::min(v.first.release_sent_ns, v.second.release_sent_ns) - v.second.granted_ns;
  if (v.overlap_ns <= 0) return;
  v.clock_error_ns = error_between(clocks_, v.first.client, v.second.client, v.second.granted_ns);
  v.certain = v.overlap_ns > v.clock_error_ns;
  ++(v.certain ? certain_ : possible_);
  if (v.certain && overlaps_.size() < most_overlaps) {
    overlaps_.push_back({v.second.granted_ns, v.first.client, v.second.client});
  }
  if (v.certain) log_.violated(v);
  // Between hosts, holds that follow each other closely often seem to overlap a little.
  const bool is_noise = !v.certain && v.clock_error_ns > 0;
  if (!is_noise && examples_.size() < keep_) examples_.push_back(v);
}

void exclusion::finish(std::int64_t end_ns) {
  for (std::uint32_t key = 0; key < keys_.size(); ++key) {
    const std::vector<hold>& open = keys_[key].open;
    while (!open.empty()) close(key, open.size() - 1, end_ns, true);
  }
}

}  // namespace lockmark::check
