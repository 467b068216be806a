#include "drivers/conformance/conformance.hpp"

#include <gtest/gtest.h>

#include "drivers/conformance/cases.hpp"

namespace lockmark::conformance {
namespace {

// Which locks a case is about.
using filter = bool (*)(const subject&);

bool has(const subject& s, feature f) {
  return s.kind.has.has(f);
}
bool optimistic(const subject& s) {
  return has(s, feature::optimistic);
}
bool excludes(const subject& s) {
  return !optimistic(s) && !has(s, feature::shared);
}
bool checks_owner(const subject& s) {
  return excludes(s) && s.release_checks_owner;
}
bool waits(const subject& s) {
  return excludes(s) && has(s, feature::server_wait);
}
bool polls(const subject& s) {
  return excludes(s) && !has(s, feature::server_wait);
}
bool serves_in_order(const subject& s) {
  return waits(s) && has(s, feature::fair);
}
bool nests(const subject& s) {
  return excludes(s) && has(s, feature::reentrant);
}
bool does_not_nest(const subject& s) {
  return excludes(s) && !has(s, feature::reentrant);
}
bool has_tokens(const subject& s) {
  return excludes(s) && has(s, feature::fencing_token);
}
bool lease_ends(const subject& s) {
  return excludes(s) && has(s, feature::lease) && !s.renews_itself;
}
bool lease_ends_for_release(const subject& s) {
  return lease_ends(s) && s.release_checks_owner;
}
bool renewable(const subject& s) {
  return excludes(s) && has(s, feature::renewable) && has(s, feature::lease);
}
bool session_bound(const subject& s) {
  return excludes(s) && has(s, feature::session_bound);
}
bool remote(const subject& s) {
  return !s.in_process;
}
bool excludes_remotely(const subject& s) {
  return excludes(s) && remote(s);
}
bool session_bound_remotely(const subject& s) {
  return session_bound(s) && remote(s);
}
bool optimistic_remotely(const subject& s) {
  return optimistic(s) && remote(s);
}

struct listed_case {
  const char* name;
  filter applies;
  cases::the_case* play;
};

// clang-format off
constexpr listed_case all_cases[] = {
    {"exclusion", excludes, cases::exclusion},
    {"exclusion_within_an_instance", excludes, cases::exclusion_within_an_instance},
    {"hand_over", excludes, cases::hand_over},
    {"keys_are_independent", excludes, cases::keys_are_independent},
    {"release_by_a_stranger", excludes, cases::release_by_a_stranger},
    {"release_of_a_free_key", checks_owner, cases::release_of_a_free_key},
    {"wait_timeout_is_kept", waits, cases::wait_timeout_is_kept},
    {"tries_once", polls, cases::tries_once},
    {"waiters_are_served_in_order", serves_in_order, cases::waiters_are_served_in_order},
    {"reentrancy", nests, cases::reentrancy},
    {"no_reentrancy", does_not_nest, cases::no_reentrancy},
    {"tokens_grow", has_tokens, cases::tokens_grow},
    {"hammered", excludes, cases::hammered},
    {"hammered_by_two_threads", excludes, cases::hammered_by_two_threads},
    {"lease_runs_out", lease_ends, cases::lease_runs_out},
    {"release_after_the_lease", lease_ends_for_release, cases::release_after_the_lease},
    {"renewal_keeps_it", renewable, cases::renewal_keeps_it},
    {"renewal_by_a_stranger", renewable, cases::renewal_by_a_stranger},
    {"close_frees", session_bound, cases::close_frees},
    {"wipe_removes_what_was_held", excludes, cases::wipe_removes_what_was_held},
    {"lost_reply_to_acquire", excludes_remotely, cases::lost_reply_to_acquire},
    {"lost_reply_to_release", excludes_remotely, cases::lost_reply_to_release},
    {"lost_connection_frees", session_bound_remotely, cases::lost_connection_frees},
    {"connects_again", excludes_remotely, cases::connects_again},
    {"deadlines_on_a_silent_server", remote, cases::deadlines_on_a_silent_server},
    {"no_silent_server", remote, cases::no_silent_server},
    {"unreachable_server", remote, cases::unreachable_server},
    {"conflict_is_detected", optimistic, cases::conflict_is_detected},
    {"commit_without_reading", optimistic, cases::commit_without_reading},
    {"commits_once_per_reading", optimistic, cases::commits_once_per_reading},
    {"commits_are_counted", optimistic, cases::commits_are_counted},
    {"commits_are_counted_for_two_threads", optimistic,
     cases::commits_are_counted_for_two_threads},
    {"lost_reply_to_commit", optimistic_remotely, cases::lost_reply_to_commit},
};
// clang-format on

class conformance_test final : public testing::Test {
 public:
  conformance_test(subject s, cases::the_case* play) : subject_(std::move(s)), play_(play) {}

  void TestBody() override {
    stage where{subject_};
    where.play(play_);
  }

 private:
  const subject subject_;
  cases::the_case* const play_;
};

}  // namespace

void add(const subject& s) {
  std::string suite{s.kind.name};
  if (!s.label.empty()) suite += ":" + s.label;
  for (const listed_case& c : all_cases) {
    if (!c.applies(s)) continue;
    testing::RegisterTest(
        suite.c_str(), c.name, nullptr, nullptr, __FILE__, __LINE__,
        [s, play = c.play]() -> testing::Test* { return new conformance_test(s, play); });
  }
}

}  // namespace lockmark::conformance
