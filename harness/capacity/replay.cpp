#include "harness/capacity/replay.hpp"

#include <algorithm>
#include <chrono>
#include <map>

namespace lockmark::capacity {
namespace {

// One key's queue.
class replayed_key {
 public:
  replayed_key(std::span<const pace::arrival> all, const lock_model& m,
               stats::random_source& random, std::vector<outcome_of_arrival>& out)
      : all_(all), model_(m), random_(random), out_(out) {}

  // `its`: the key's arrivals, in order.
  void serve(const std::vector<std::size_t>& its) {
    std::size_t next = 0;
    while (next < its.size() || !waiting_.empty()) {
      while (next < its.size() && due_s(its[next]) < free_at_s_) waiting_.push_back(its[next++]);
      if (waiting_.empty()) {
        const std::size_t lone = its[next++];
        grant(lone, due_s(lone) + model_.lone_s);
        continue;
      }
      const double at_s = free_at_s_ + hand_off();
      std::erase_if(waiting_, [&](std::size_t i) { return at_s > due_s(i) + model_.patience_s; });
      if (waiting_.empty()) continue;  // who comes after the release finds the key free
      const std::size_t place =
          model_.order == service_order::random ? random_.below(waiting_.size()) : 0;
      const std::size_t chosen = waiting_[place];
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(place));
      grant(chosen, at_s);
    }
  }

 private:
  double due_s(std::size_t i) const { return in_seconds(all_[i].due); }

  double hand_off() {
    return model_.scale * model_.handoffs_s[random_.below(model_.handoffs_s.size())];
  }

  void grant(std::size_t i, double at_s) {
    out_[i].wait_s = at_s - due_s(i);
    out_[i].granted = true;
    free_at_s_ = at_s + in_seconds(all_[i].hold);
  }

  std::span<const pace::arrival> all_;
  const lock_model& model_;
  stats::random_source& random_;
  std::vector<outcome_of_arrival>& out_;
  std::vector<std::size_t> waiting_;
  double free_at_s_ = 0;
};

}  // namespace

std::vector<outcome_of_arrival> replay(std::span<const pace::arrival> all, const lock_model& m,
                                       std::uint64_t seed) {
  std::vector<outcome_of_arrival> out;
  out.reserve(all.size());
  std::map<std::uint32_t, std::vector<std::size_t>> by_key;
  for (std::size_t i = 0; i < all.size(); ++i) {
    out.push_back({in_seconds(all[i].due), m.patience_s, false});
    by_key[all[i].key].push_back(i);
  }
  for (const auto& [key, its] : by_key) {
    stats::random_source random{seed, key};
    replayed_key{all, m, random, out}.serve(its);
  }
  return out;
}

stretches stretches_of(std::span<const outcome_of_arrival> all, double late_after_s, double part_s,
                       double from_s, double until_s) {
  stretches result{{}, part_s};
  result.parts.resize(static_cast<std::size_t>((until_s - from_s) / part_s));
  for (const outcome_of_arrival& a : all) {
    if (a.due_s < from_s || a.due_s >= until_s) continue;
    const auto part = static_cast<std::size_t>((a.due_s + a.wait_s - from_s) / part_s);
    stretch& its = result.parts[std::min(part, result.parts.size() - 1)];
    ++its.attempts;
    its.late += !a.granted || a.wait_s > late_after_s ? 1 : 0;
    its.waiting += a.wait_s / part_s;
  }
  return result;
}

}  // namespace lockmark::capacity
