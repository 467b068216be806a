#include "drivers/conformance/conformance.hpp"

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "drivers/conformance/cases.hpp"

namespace lockmark::conformance {
namespace {

// What a case needs of a lock. All traits but `remote` and `optimistic` are those of locks.
enum trait : std::uint32_t {
  any = 0,
  remote = 1U << 0,
  optimistic = 1U << 1,
  locks = 1U << 2,  // an acquire makes a holder
  shared = 1U << 3,
  limited = 1U << 4,  // a limited number of holders: exclusive locks and semaphores
  has_writer = 1U << 5,
  loses_writers = 1U << 6,
  contended = 1U << 7,  // a client can be kept out
  waits = 1U << 8,
  polls = 1U << 9,
  fair = 1U << 10,
  reentrant = 1U << 11,
  flat = 1U << 12,  // exclusive and not reentrant
  has_tokens = 1U << 13,
  has_lease = 1U << 14,  // that ends unless it is renewed
  renewable = 1U << 15,
  checks_owner = 1U << 16,
  session_bound = 1U << 17,
  quorum = 1U << 18,
};

std::uint32_t traits_of(const subject& s) {
  const auto has = [&](feature f) { return s.kind.has.has(f); };
  std::uint32_t all = s.in_process ? any : remote;
  const auto add_if = [&all](bool is, std::uint32_t t) { all |= is ? t : any; };
  if (has(feature::optimistic)) return all | optimistic;
  const bool is_shared = has(feature::shared);
  const bool is_limited = most_holders(s) != 0;
  const bool writer = is_shared && s.has_writer();
  const features of_writer = s.writer.has;
  all |= locks;
  add_if(is_shared, shared);
  add_if(is_limited, limited);
  add_if(writer, has_writer);
  add_if(writer && (of_writer.has(feature::session_bound) ||
                    (of_writer.has(feature::lease) && !s.renews_itself)),
         loses_writers);
  add_if(is_limited || writer, contended);
  add_if(true, has(feature::server_wait) ? waits : polls);
  add_if(has(feature::fair), fair);
  add_if(has(feature::reentrant), reentrant);
  add_if(!is_shared && !has(feature::reentrant), flat);
  add_if(has(feature::fencing_token), has_tokens);
  add_if(has(feature::lease) && !s.renews_itself, has_lease);
  add_if(has(feature::renewable) && has(feature::lease), renewable);
  add_if(s.release_checks_owner, checks_owner);
  add_if(has(feature::session_bound), session_bound);
  add_if(s.quorum, quorum);
  return all;
}

struct listed_case {
  const char* name;
  std::uint32_t needs;
  cases::the_case* play;

  bool applies(const subject& s) const { return (needs & ~traits_of(s)) == 0; }
};

// clang-format off
constexpr listed_case all_cases[] = {
    {"exclusion", limited, cases::exclusion},
    {"exclusion_within_an_instance", limited, cases::exclusion_within_an_instance},
    {"hand_over", contended, cases::hand_over},
    {"keys_are_independent", locks, cases::keys_are_independent},
    {"release_by_a_stranger", contended, cases::release_by_a_stranger},
    {"release_of_a_free_key", checks_owner, cases::release_of_a_free_key},
    {"wait_timeout_is_kept", contended | waits, cases::wait_timeout_is_kept},
    {"tries_once", contended | polls, cases::tries_once},
    {"waiters_are_served_in_order", contended | waits | fair | limited,
     cases::waiters_are_served_in_order},
    {"reentrancy", contended | reentrant, cases::reentrancy},
    {"no_reentrancy", flat, cases::no_reentrancy},
    {"tokens_grow", has_tokens, cases::tokens_grow},
    {"hammered", locks, cases::hammered},
    {"hammered_by_two_threads", locks, cases::hammered_by_two_threads},
    {"holders_share", shared, cases::holders_share},
    {"holders_are_limited", shared | limited, cases::holders_are_limited},
    {"readers_keep_writer_out", has_writer, cases::readers_keep_writer_out},
    {"writer_keeps_readers_out", has_writer, cases::writer_keeps_readers_out},
    {"readers_after_writer", has_writer, cases::readers_after_writer},
    {"readers_after_a_lost_writer", loses_writers, cases::readers_after_a_lost_writer},
    {"readers_and_writers_hammered", has_writer, cases::readers_and_writers_hammered},
    {"readers_and_writers_hammered_by_two_threads", has_writer,
     cases::readers_and_writers_hammered_by_two_threads},
    {"lease_runs_out", has_lease | contended, cases::lease_runs_out},
    {"release_after_the_lease", has_lease | checks_owner, cases::release_after_the_lease},
    {"renewal_keeps_it", renewable | contended, cases::renewal_keeps_it},
    {"renewal_by_a_stranger", renewable, cases::renewal_by_a_stranger},
    {"close_frees", contended | session_bound, cases::close_frees},
    {"wipe_removes_what_was_held", locks, cases::wipe_removes_what_was_held},
    {"lost_reply_to_acquire", contended | remote, cases::lost_reply_to_acquire},
    {"lost_reply_to_release", contended | remote, cases::lost_reply_to_release},
    {"a_minority_may_be_missing", contended | remote | quorum, cases::a_minority_may_be_missing},
    {"a_missing_majority_grants_nothing", contended | remote | quorum,
     cases::a_missing_majority_grants_nothing},
    {"lost_replies_of_a_minority", contended | remote | quorum, cases::lost_replies_of_a_minority},
    {"lost_replies_of_a_majority", contended | remote | quorum, cases::lost_replies_of_a_majority},
    {"lost_connection_frees", contended | session_bound | remote, cases::lost_connection_frees},
    {"connects_again", locks | remote, cases::connects_again},
    {"nothing_begins_after_the_deadline", contended | remote,
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
    {"lost_reply_to_commit", optimistic | remote, cases::lost_reply_to_commit},
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
