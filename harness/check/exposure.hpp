// At how many moments would a wrong grant have been seen? The power of the verdict on exclusion.
//
// Two holds that overlap can be seen only if somebody else is told "granted" while a hold is open,
// between the stamps of its grant and its release. So a chance is a request of another client for
// the same key
//   - that was answered while the hold was open, or
//   - that was under way during a hold over which the holder's loop turned, so that an answer could
//     have been read meanwhile: a lock whose server wakes waiters answers nobody else in a hold.
// Each request counts once. A semaphore's counts only while all its places are taken by others, a
// reader's only during a writer's hold. A
// hold that begins and ends in one turn of a loop gives no chance by itself: whatever else the
// server granted is read afterwards, when the hold is over.
//
// Of an optimistic lock, a chance is a commit that met another one: refused for a conflict, or
// wrongly done.
//
// Reads the events in order of time, each before `exclusion` does or after; touches one key per
// event, and each request at most twice.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

class exposure {
 public:
  // `holders` as in exclusion. Without a second competitor for a key nothing is looked at.
  exposure(std::size_t keys, std::size_t clients, std::size_t competitors, std::uint32_t holders);

  void began(const event& e);
  void refused(const event& e);
  void ended(const event& e);
  void granted(const event& e);
  void released(const event& e);  // or died

  // So far. Every overlap that `exclusion` counts begins with a chance.
  std::uint64_t chances() const { return chances_; }
  // Holds over which the holder's loop turned.
  std::uint64_t lasting_holds() const { return lasting_; }

 private:
  struct holder {
    std::uint32_t client = 0;
    bool shared = false;
  };
  struct key_state {
    std::vector<holder> holders;           // a client as often as it holds
    std::vector<std::uint32_t> under_way;  // requests that were not counted yet
  };
  static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
  struct request {
    std::uint32_t key = 0;
    std::uint32_t place = none;  // in the key's `under_way`
    bool counted = false;
    bool shared = false;
  };

  bool taken_by_others(const key_state& key, std::uint32_t client) const;
  void count_answer(const event& e);
  void leave(std::uint32_t client);

  std::vector<key_state> keys_;
  std::vector<request> requests_;  // by client: its last one
  bool looks_;
  std::uint32_t most_holders_;
  std::uint64_t chances_ = 0;
  std::uint64_t lasting_ = 0;
};

}  // namespace lockmark::check
