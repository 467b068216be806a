#include "drivers/conformance/conformance.hpp"

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "drivers/conformance/cases.hpp"

namespace lockmark::conformance {
namespace {

// The locks that a case applies to.
using filter = bool (*)(const subject&);

bool has(const subject& s, feature f) {
  return s.kind.has.has(f);
}
bool optimistic(const subject& s) {
  return has(s, feature::optimistic);
}
// All but optimistic ones: an acquire makes a holder.
bool locks(const subject& s) {
  return !optimistic(s);
}
bool shared(const subject& s) {
  return locks(s) && has(s, feature::shared);
}
bool excludes(const subject& s) {
  return locks(s) && !shared(s);
}
// A limited number of holders: exclusive locks and semaphores.
bool limited(const subject& s) {
  return locks(s) && most_holders(s) != 0;
}
bool has_writer(const subject& s) {
  return shared(s) && s.has_writer();
}
// A client can be kept out.
bool contended(const subject& s) {
  return limited(s) || has_writer(s);
}
bool semaphore(const subject& s) {
  return shared(s) && limited(s);
}
bool loses_writers(const subject& s) {
  if (!has_writer(s)) return false;
  const features has = s.writer.has;
  return has.has(feature::session_bound) || (has.has(feature::lease) && !s.renews_itself);
}
bool checks_owner(const subject& s) {
  return locks(s) && s.release_checks_owner;
}
bool waits(const subject& s) {
  return contended(s) && has(s, feature::server_wait);
}
bool polls(const subject& s) {
  return contended(s) && !has(s, feature::server_wait);
}
bool serves_in_order(const subject& s) {
  return waits(s) && has(s, feature::fair) && limited(s);
}
bool nests(const subject& s) {
  return contended(s) && has(s, feature::reentrant);
}
bool does_not_nest(const subject& s) {
  return excludes(s) && !has(s, feature::reentrant);
}
bool has_tokens(const subject& s) {
  return locks(s) && has(s, feature::fencing_token);
}
bool has_lease(const subject& s) {
  return locks(s) && has(s, feature::lease) && !s.renews_itself;
}
bool lease_ends(const subject& s) {
  return has_lease(s) && contended(s);
}
bool lease_ends_for_release(const subject& s) {
  return has_lease(s) && s.release_checks_owner;
}
bool renewable(const subject& s) {
  return locks(s) && has(s, feature::renewable) && has(s, feature::lease);
}
bool renewable_against_others(const subject& s) {
  return renewable(s) && contended(s);
}
bool session_bound(const subject& s) {
  return contended(s) && has(s, feature::session_bound);
}
bool remote(const subject& s) {
  return !s.in_process;
}
bool locks_remotely(const subject& s) {
  return locks(s) && remote(s);
}
bool contended_remotely(const subject& s) {
  return contended(s) && remote(s);
}
bool session_bound_remotely(const subject& s) {
  return session_bound(s) && remote(s);
}
bool by_majority(const subject& s) {
  return contended_remotely(s) && s.quorum;
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
    {"exclusion", limited, cases::exclusion},
    {"exclusion_within_an_instance", limited, cases::exclusion_within_an_instance},
    {"hand_over", contended, cases::hand_over},
    {"keys_are_independent", locks, cases::keys_are_independent},
    {"release_by_a_stranger", contended, cases::release_by_a_stranger},
    {"release_of_a_free_key", checks_owner, cases::release_of_a_free_key},
    {"wait_timeout_is_kept", waits, cases::wait_timeout_is_kept},
    {"tries_once", polls, cases::tries_once},
    {"waiters_are_served_in_order", serves_in_order, cases::waiters_are_served_in_order},
    {"reentrancy", nests, cases::reentrancy},
    {"no_reentrancy", does_not_nest, cases::no_reentrancy},
    {"tokens_grow", has_tokens, cases::tokens_grow},
    {"hammered", locks, cases::hammered},
    {"hammered_by_two_threads", locks, cases::hammered_by_two_threads},
    {"holders_share", shared, cases::holders_share},
    {"holders_are_limited", semaphore, cases::holders_are_limited},
    {"readers_keep_writer_out", has_writer, cases::readers_keep_writer_out},
    {"writer_keeps_readers_out", has_writer, cases::writer_keeps_readers_out},
    {"readers_after_writer", has_writer, cases::readers_after_writer},
    {"readers_after_a_lost_writer", loses_writers, cases::readers_after_a_lost_writer},
    {"readers_and_writers_hammered", has_writer, cases::readers_and_writers_hammered},
    {"readers_and_writers_hammered_by_two_threads", has_writer,
     cases::readers_and_writers_hammered_by_two_threads},
    {"lease_runs_out", lease_ends, cases::lease_runs_out},
    {"release_after_the_lease", lease_ends_for_release, cases::release_after_the_lease},
    {"renewal_keeps_it", renewable_against_others, cases::renewal_keeps_it},
    {"renewal_by_a_stranger", renewable, cases::renewal_by_a_stranger},
    {"close_frees", session_bound, cases::close_frees},
    {"wipe_removes_what_was_held", locks, cases::wipe_removes_what_was_held},
    {"lost_reply_to_acquire", contended_remotely, cases::lost_reply_to_acquire},
    {"lost_reply_to_release", contended_remotely, cases::lost_reply_to_release},
    {"a_minority_may_be_missing", by_majority, cases::a_minority_may_be_missing},
    {"a_missing_majority_grants_nothing", by_majority, cases::a_missing_majority_grants_nothing},
    {"lost_replies_of_a_minority", by_majority, cases::lost_replies_of_a_minority},
    {"lost_replies_of_a_majority", by_majority, cases::lost_replies_of_a_majority},
    {"lost_connection_frees", session_bound_remotely, cases::lost_connection_frees},
    {"connects_again", locks_remotely, cases::connects_again},
    {"nothing_begins_after_the_deadline", contended_remotely,
     cases::nothing_begins_after_the_deadline},
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

// Intercepts failures and their messages before they reach the running test.
class failures_kept_back {
 public:
  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    for (int n = 0; n < kept_.size(); ++n) {
      const testing::TestPartResult& r = kept_.GetTestPartResult(n);
      if (r.failed()) all.emplace_back(r.message());
    }
    return all;
  }

 private:
  testing::TestPartResultArray kept_;
  testing::ScopedFakeTestPartResultReporter reporter_{
      testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &kept_};
};

}  // namespace

std::vector<std::string> findings(const subject& s, std::string_view case_name) {
  for (const listed_case& c : all_cases) {
    if (c.name != case_name || !c.applies(s)) continue;
    const failures_kept_back kept;
    stage where{s};
    where.play(c.play);
    return kept.messages();
  }
  throw std::logic_error(fmt::format("no case {} for {}", case_name, s.kind.name));
}

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
