// A process is killed: its history, cut at any event, must not look like a violation.
#include "harness/check/cut_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "harness/check/exclusion.hpp"
#include "harness/check/handoff.hpp"
#include "harness/check/lost_update.hpp"
#include "harness/check/merge.hpp"

namespace lockmark::check {
namespace {

using enum event_kind;
using testing::IsEmpty;

constexpr std::uint32_t processes = 3;
constexpr std::uint32_t clients = 2;  // of each instance; one instance in each process

std::uint32_t process_of(std::uint32_t client) {
  return client / clients % processes;
}

std::string described(const std::vector<event>& events) {
  std::string text;
  for (const event& e : events) {
    text += std::to_string(e.client) + ":" + std::to_string(static_cast<int>(e.kind)) + "@" +
            std::to_string(e.at_ns) + " ";
  }
  return text;
}

TEST(cut_history, ends_attempts_and_holds) {
  cut_history h(processes, clients, false);
  h.see({10, 0, 4, 0, began});
  h.see({11, 0, 4, 1, began});
  h.see({12, 77, 4, 0, granted});
  // Instance 3 is the second of process 0.
  h.see({13, 0, 2, 7, began});
  h.see({14, 0, 2, 7, ended});
  EXPECT_EQ(h.last_ns(), 14);
  const auto ends = h.ends_at(20);
  ASSERT_EQ(ends.size(), 2u) << described(ends);
  EXPECT_EQ(ends[0].kind, died);
  EXPECT_EQ(ends[0].client, 0u);
  EXPECT_EQ(ends[0].key, 4u);
  EXPECT_EQ(ends[0].token, 77u);
  EXPECT_EQ(ends[0].at_ns, 20);
  EXPECT_EQ(ends[1].kind, ended);
  EXPECT_EQ(ends[1].client, 1u);
  EXPECT_TRUE(ends[1].cut) << "nobody's failure";
}

TEST(cut_history, is_over_when_everybody_has_released) {
  cut_history h(processes, clients, false);
  h.see({10, 0, 0, 0, began});
  h.see({11, 1, 0, 0, granted});
  h.see({12, 1, 0, 0, released});
  EXPECT_THAT(h.ends_at(20), IsEmpty());
}

// With answers noted, a release without one is in doubt.
TEST(cut_history, ends_releases_whose_answers_are_noted) {
  cut_history h(processes, clients, false, true);
  for (const std::uint32_t client : {0U, 1U}) {
    h.see({10, 0, 3, client, began});
    h.see({11, 1, 3, client, granted});
    h.see({12, 1, 3, client, released});
  }
  h.see({13, static_cast<std::uint64_t>(answer::done), 3, 1, answered});
  const auto ends = h.ends_at(20);
  ASSERT_EQ(ends.size(), 1u) << described(ends);
  EXPECT_EQ(ends[0].kind, answered);
  EXPECT_EQ(ends[0].client, 0u);
  EXPECT_EQ(ends[0].key, 3u);
  EXPECT_EQ(ends[0].token, static_cast<std::uint64_t>(answer::in_doubt));
}

// A commit may be in flight in any attempt; one already noted as in doubt counts only once.
TEST(cut_history, a_commit_under_way_is_in_doubt) {
  cut_history h(processes, clients, true);
  h.see({10, 0, 0, 0, began});
  h.see({10, 0, 0, 1, began});
  h.see({11, 0, 0, 1, doubtful});
  const auto ends = h.ends_at(20);
  ASSERT_EQ(ends.size(), 3u) << described(ends);
  EXPECT_EQ(ends[0].kind, doubtful);
  EXPECT_EQ(ends[0].client, 0u);
  EXPECT_EQ(ends[1].kind, ended);
  EXPECT_EQ(ends[2].kind, ended);
  EXPECT_EQ(ends[2].client, 1u);
}

// Clients take one key in turn, at random intervals, while others wait for it.
std::vector<event> correct_history(std::mt19937& rng, int cycles) {
  std::vector<event> events;
  std::int64_t now = 100;
  const auto later = [&] { return now += 1 + static_cast<std::int64_t>(rng() % 5); };
  std::vector<bool> waiting(processes * clients, false);
  for (int i = 0; i < cycles; ++i) {
    for (std::uint32_t c = 0; c < waiting.size(); ++c) {
      if (waiting[c] || rng() % 2 == 0) continue;
      waiting[c] = true;
      events.push_back({later(), 0, 0, c, began});
    }
    std::vector<std::uint32_t> all;
    for (std::uint32_t c = 0; c < waiting.size(); ++c) {
      if (waiting[c]) all.push_back(c);
    }
    if (all.empty()) continue;
    const std::uint32_t holder = all[rng() % all.size()];
    waiting[holder] = false;
    events.push_back({later(), static_cast<std::uint64_t>(i + 1), 0, holder, granted});
    events.push_back({later(), static_cast<std::uint64_t>(i + 1), 0, holder, released});
  }
  return events;
}

// The merged remains of a history when `victim` dies after its event number `cut` (of all), at
// `end_ns`.
std::vector<event> cut_at(const std::vector<event>& whole, std::uint32_t victim, std::size_t cut,
                          std::int64_t end_ns, bool tell_the_end) {
  cut_history h(processes, clients, false);
  journal journals[processes];
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const bool mine = process_of(whole[i].client) == victim;
    if (mine && i > cut) continue;
    if (mine) h.see(whole[i]);
    journals[process_of(whole[i].client)].note(whole[i]);
  }
  if (tell_the_end) {
    for (const event& e : h.ends_at(std::max(end_ns, h.last_ns()))) journals[victim].note(e);
  }
  for (journal& j : journals) j.publish(INT64_MAX);
  merger all({&journals[0], &journals[1], &journals[2]});
  std::vector<event> left;
  all.drain([&](const event& e) { left.push_back(e); });
  return left;
}

std::uint64_t violations(const std::vector<event>& events) {
  exclusion x(1);
  handoffs order(1);
  for (const event& e : events) {
    if (e.kind == granted) x.granted(e), order.granted(e);
    if (e.kind == released) x.released(e), order.released(e);
    if (e.kind == died) x.released(e), order.died(e);
  }
  x.finish(1'000'000);
  return x.certain() + x.possible();
}

// Whichever process dies, after any of its events, at any time before its next one: the history of
// the others stays correct. And the check would notice a missing end.
TEST(cut_history, a_cut_at_any_event_makes_no_violation) {
  std::mt19937 rng(5);
  std::uint64_t without_an_end = 0;
  for (int round = 0; round < 60; ++round) {
    const auto whole = correct_history(rng, 12);
    ASSERT_EQ(violations(whole), 0u);
    for (std::uint32_t victim = 0; victim < processes; ++victim) {
      for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        if (process_of(whole[cut].client) != victim) continue;
        std::int64_t next_ns = whole.back().at_ns;
        for (std::size_t i = whole.size(); i-- > cut + 1;) {
          if (process_of(whole[i].client) == victim) next_ns = whole[i].at_ns;
        }
        for (std::int64_t end_ns = whole[cut].at_ns; end_ns <= next_ns; ++end_ns) {
          const auto left = cut_at(whole, victim, cut, end_ns, true);
          ASSERT_EQ(violations(left), 0u) << described(left);
        }
        without_an_end += violations(cut_at(whole, victim, cut, 0, false));
      }
    }
  }
  EXPECT_GT(without_an_end, 0u);
}

// The next grant after a holder's death is not a hand-off: it tells how long the key was orphaned.
TEST(cut_history, a_death_is_no_hand_off) {
  handoffs order(1);
  order.began({10, 0, 0, 1, began});
  order.granted({10, 0, 0, 0, granted});
  order.died({20, 0, 0, 0, died});
  const handoff h = order.granted({520, 0, 0, 1, granted});
  EXPECT_EQ(h.kind, handoff_kind::orphaned);
  EXPECT_EQ(h.took_ns, 500);
  order.released({530, 0, 0, 1, released});
  EXPECT_NE(order.granted({540, 0, 0, 2, granted}).kind, handoff_kind::orphaned);
  // Only the first grant after it, even with two concurrent holders.
  order.died({550, 0, 0, 2, died});
  EXPECT_EQ(order.granted({560, 0, 0, 0, granted}).kind, handoff_kind::orphaned);
  EXPECT_NE(order.granted({570, 0, 0, 1, granted}).kind, handoff_kind::orphaned);
}

// The server has counted a commit whose client was killed before it could report it.
TEST(cut_history, a_commit_that_nobody_lived_to_tell_is_not_lost) {
  for (const bool told : {true, false}) {
    lost_updates found(1);
    cut_history h(processes, clients, true);
    h.see({10, 0, 0, 0, began});
    h.see({11, 4, 0, 0, committed});
    found.committed({11, 4, 0, 0, committed});
    h.see({12, 0, 0, 0, began});
    for (const event& e : h.ends_at(20)) {
      if (told && e.kind == doubtful) found.doubtful(e);
    }
    found.server_counted(0, 2);
    EXPECT_EQ(found.found(), told ? 0u : 1u);
  }
}

}  // namespace
}  // namespace lockmark::check
