#include "harness/stats/fairness.hpp"

#include <limits>
#include <tuple>

#include "harness/stats/confidence.hpp"
#include "harness/stats/invocation_order.hpp"

namespace lockmark::stats {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double ratio(double numerator, std::int64_t denominator) {
  return denominator == 0 ? nan : numerator / static_cast<double>(denominator);
}

double jain(std::int64_t sum, double sum_of_squares, std::int64_t n) {
  const auto total = static_cast<double>(sum);
  return total * total / (static_cast<double>(n) * sum_of_squares);
}

// The state of a client at a key. A table entry without grants is free.
struct client_entry {
  std::uint32_t client = 0;
  std::uint32_t window = 0;  // the window that window_grants belongs to
  std::int64_t window_grants = 0;
  std::int64_t grants = 0;
  std::int64_t last_grant = 0;  // its number among the key's grants
};

// A sparse map from client to entry: open addressing, at most half full, grows from 8 entries.
class client_table {
 public:
  client_entry& at(std::uint32_t client) {
    client_entry* entry = find(client);
    if (entry->grants == 0) {
      if (2 * (used_ + 1) > entries_.size()) {
        grow();
        entry = find(client);
      }
      ++used_;
      entry->client = client;
    }
    return *entry;
  }

  std::int64_t size() const { return static_cast<std::int64_t>(used_); }

  template <typename visitor>
  void for_each(visitor&& visit) const {
    for (const client_entry& entry : entries_) {
      if (entry.grants != 0) visit(entry);
    }
  }

 private:
  client_entry* find(std::uint32_t client) {
    const std::size_t mask = entries_.size() - 1;
    std::size_t i = (client * std::uint64_t{0x9e3779b97f4a7c15} >> 32) & mask;
    while (entries_[i].grants != 0 && entries_[i].client != client) i = (i + 1) & mask;
    return &entries_[i];
  }

  void grow() {
    std::vector<client_entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const client_entry& entry : old) {
      if (entry.grants != 0) *find(entry.client) = entry;
    }
  }

  std::vector<client_entry> entries_ = std::vector<client_entry>(8);
  std::size_t used_ = 0;
};

}  // namespace

struct key_fairness::contended {
  explicit contended(std::int64_t competitors)
      : order(competitors), window_length(4 * competitors) {}

  client_table clients;
  invocation_order order;
  std::int64_t window_length;
  std::uint32_t window = 1;
  std::int64_t window_grants = 0;
  std::int64_t window_winners = 0;
  std::int64_t window_squares = 0;
  std::uint32_t owner = 0;
};

key_fairness::key_fairness(std::int64_t competitors) : competitors_(competitors) {}
key_fairness::~key_fairness() = default;
key_fairness::key_fairness(key_fairness&&) noexcept = default;
key_fairness& key_fairness::operator=(key_fairness&&) noexcept = default;

void key_fairness::grant_contended(fairness_totals& totals, std::uint32_t client,
                                   std::int64_t invoked_ns) {
  if (!state_) state_ = std::make_unique<contended>(competitors_);
  contended& s = *state_;
  client_entry& entry = s.clients.at(client);

  if (grants_ > 1 && client != s.owner) ++totals.owner_changes_;
  s.owner = client;
  if (entry.grants > 0) totals.reacquire_.record(grants_ - entry.last_grant);
  entry.last_grant = grants_;
  ++entry.grants;
  totals.bypass_.record(s.order.add(invoked_ns));

  if (entry.window != s.window) {
    entry.window = s.window;
    entry.window_grants = 0;
    ++s.window_winners;
  }
  // (w + 1)^2 - w^2, so that the sum of squares needs no pass over the clients.
  s.window_squares += 2 * entry.window_grants + 1;
  ++entry.window_grants;
  if (++s.window_grants < s.window_length) return;

  totals.end_windows(1, s.window_length,
                     jain(s.window_length, static_cast<double>(s.window_squares),
                          std::max(competitors_, s.window_winners)),
                     s.window_winners);
  ++s.window;
  s.window_grants = s.window_winners = s.window_squares = 0;
}

void key_fairness::finish(fairness_totals& totals) {
  if (grants_ == 0) return;
  totals.grants_ += grants_;
  totals.successions_ += grants_ - 1;
  double run = 1.0;
  if (state_) {
    double squares = 0;
    state_->clients.for_each([&](const client_entry& entry) {
      squares += static_cast<double>(entry.grants) * static_cast<double>(entry.grants);
    });
    run = jain(grants_, squares, std::max(competitors_, state_->clients.size()));
  } else {
    totals.bypass_.record(0, grants_);
    totals.reacquire_.record(1, grants_ - 1);
    totals.end_windows(grants_ / 4, 4, 1.0, 1);
  }
  totals.jain_runs_ += run * static_cast<double>(grants_);
  grants_ = 0;
  state_.reset();
}

std::vector<key_fairness::share> key_fairness::shares() const {
  std::vector<share> result;
  if (state_) {
    state_->clients.for_each([&](const client_entry& entry) {
      result.push_back({entry.client, entry.grants});
    });
  }
  return result;
}

void fairness_totals::end_windows(std::int64_t n, std::int64_t length, double jain_index,
                                  std::int64_t winners) {
  windows_ += n;
  window_grants_ += n * length;
  jain_windows_ += jain_index * static_cast<double>(n * length);
  winners_ += static_cast<double>(n * length * winners);
}

double fairness_totals::jain_run() const {
  return ratio(jain_runs_, grants_);
}
double fairness_totals::jain_windowed() const {
  return ratio(jain_windows_, window_grants_);
}
double fairness_totals::working_set_size() const {
  return ratio(winners_, window_grants_);
}
double fairness_totals::owner_change_share() const {
  return ratio(static_cast<double>(owner_changes_), successions_);
}

void fairness_totals::merge(const fairness_totals& other) {
  grants_ += other.grants_;
  successions_ += other.successions_;
  owner_changes_ += other.owner_changes_;
  windows_ += other.windows_;
  window_grants_ += other.window_grants_;
  jain_windows_ += other.jain_windows_;
  winners_ += other.winners_;
  jain_runs_ += other.jain_runs_;
  longest_wait_ns_ = std::max(longest_wait_ns_, other.longest_wait_ns_);
  reacquire_.merge(other.reacquire_);
  bypass_.merge(other.bypass_);
}

client_outcomes::client_outcomes(std::size_t clients) : clients_(clients) {}

void client_outcomes::granted(std::uint32_t client, std::int64_t response_ns) {
  entry& e = clients_[client];
  ++e.granted;
  if (clients_.size() > most_with_quantiles) return;
  if (!e.responses) e.responses = std::make_unique<histogram>(2);
  e.responses->record(response_ns);
}

void client_outcomes::not_granted(std::uint32_t client, std::int64_t waited_ns) {
  entry& e = clients_[client];
  ++e.not_granted;
  e.waited_ns += waited_ns;
}

bool client_outcomes::starves(std::uint32_t client, const measurement& m) const {
  const entry& e = clients_[client];
  if (m.grants[client] > 0) return false;
  return e.not_granted >= least_attempts || (e.not_granted >= 2 && e.waited_ns >= m.window_ns / 2);
}

namespace {

constexpr double worst_quantile = 0.99;

// Too few attempts for a quantile may still say that it exceeds T: that of a client with five
// attempts which all timed out does.
client_outcomes::quantile p99_of(std::uint32_t client, const attempts& all, bool hardly_tried) {
  const bool supported = is_supported(worst_quantile, all.count());
  const std::int64_t low = order_statistic_ranks(worst_quantile, all.count()).low;
  const quantile_ns at_least = low < 1 ? quantile_ns{} : all.at_rank(low);
  const bool exceeds_limit = !supported && !hardly_tried && at_least.censored;
  return {client, all.count(), supported || exceeds_limit,
          exceeds_limit ? at_least : all.at_quantile(worst_quantile)};
}

bool lower(const client_outcomes::share& a, const client_outcomes::share& b) {
  const auto share_of = [](const client_outcomes::share& s) {
    return static_cast<double>(s.granted) / static_cast<double>(s.attempts);
  };
  // Of two that were never granted the lock, the one that tried more often.
  return std::tuple(share_of(a), -a.attempts) < std::tuple(share_of(b), -b.attempts);
}

bool later(const client_outcomes::quantile& a, const client_outcomes::quantile& b) {
  return std::tuple(a.value.censored, a.value.value_ns, a.supported) >
         std::tuple(b.value.censored, b.value.value_ns, b.supported);
}

}  // namespace

client_outcomes::summary client_outcomes::summarised(const measurement& m) const {
  static const histogram none(2);
  summary s;
  s.too_many_for_quantiles = clients_.size() > most_with_quantiles;
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    const entry& e = clients_[client];
    if (e.attempts() == 0) continue;
    ++s.attempted;
    const bool starving = starves(client, m);
    if (starving) ++s.never_granted;
    const share success{client, e.attempts(), e.granted};
    const bool hardly_tried = !starving && e.attempts() < least_attempts;
    if (!hardly_tried && (!s.lowest_success || lower(success, *s.lowest_success))) {
      s.lowest_success = success;
    }
    if (s.too_many_for_quantiles) continue;
    const attempts all{e.responses ? *e.responses : none, e.not_granted, m.limit_ns};
    const quantile p99 = p99_of(client, all, hardly_tried);
    if (!s.highest_p99 || later(p99, *s.highest_p99)) s.highest_p99 = p99;
  }
  return s;
}

}  // namespace lockmark::stats
