// Every case of the suite, grouped by requirement. A case is a coroutine that runs on a stage.
#pragma once

#include <functional>

#include "drivers/conformance/stage.hpp"

namespace lockmark::conformance::cases {

using the_case = task<void>(stage&);

// Locks with exclusion (cases_exclusion.cpp).
the_case exclusion, exclusion_within_an_instance, hand_over, keys_are_independent;
the_case release_by_a_stranger, release_of_a_free_key;
the_case wait_timeout_is_kept, tries_once, waiters_are_served_in_order;
the_case reentrancy, no_reentrancy, tokens_grow;
the_case hammered, hammered_by_two_threads;
void judge(const stage& s, const damage& d, const hammering& how);
// The same of what `load` does, which is repeated, four times at most, while its doubts may be due
// to an election.
void judge(const stage& s, const hammering& how, const std::function<damage()>& load);

// Locks with several holders (cases_shared.cpp).
the_case holders_share, holders_are_limited;
the_case readers_keep_writer_out, writer_keeps_readers_out, readers_after_writer;
the_case readers_after_a_lost_writer;
the_case readers_and_writers_hammered, readers_and_writers_hammered_by_two_threads;

// Holds lost against the owner's will, and their remains (cases_loss.cpp).
the_case lease_runs_out, release_after_the_lease, renewal_keeps_it, renewal_by_a_stranger;
the_case close_frees, wipe_removes_what_was_held;

// A broken network (cases_network.cpp).
the_case lost_reply_to_acquire, lost_reply_to_release, lost_connection_frees, connects_again;
the_case nothing_begins_after_the_deadline;
the_case deadlines_on_a_silent_server, no_silent_server, unreachable_server;

// Locks granted by a majority of servers (cases_quorum.cpp).
the_case a_minority_may_be_missing, a_missing_majority_grants_nothing;
the_case lost_replies_of_a_minority, lost_replies_of_a_majority;

// Optimistic locks (cases_optimistic.cpp).
the_case conflict_is_detected, commit_without_reading, commits_once_per_reading;
the_case commits_are_counted, commits_are_counted_for_two_threads, lost_reply_to_commit;

// Common helpers of the cases, in the file of the cases that they were made for.

// Releases after a delay, and notes the time.
task<void> give_up_later(party who, duration later, time_point& at);

inline constexpr duration soon = 300ms;  // deadlines that pass on a silent server

// The next request arrives and its reply is lost. Independent servers all receive it, and each
// loses its own reply; servers that may forward requests are all cut with the first.
void lose_replies(stage& s);

// A acquires and releases once, so that its connection is open and its scripts are loaded. From
// then on its leases are short.
task<party> warm_party(stage& s);

// Releases a possible hold, over a connection that may first have to come back.
task<outcome<nothing>> settle(party who);

// Checks a call that never gets its reply.
template <class T>
void expect_unanswered(const outcome<T>& o, const char* call) {
  EXPECT_FALSE(o.done()) << call << " was answered by nobody, and done all the same";
  EXPECT_FALSE(o.refused(refusal::not_owner)) << call << " cannot know that";
  EXPECT_FALSE(o.refused(refusal::busy)) << call << " cannot know that";
  EXPECT_FALSE(o.refused(refusal::deadline)) << call << " has waited for nobody but a server";
}

}  // namespace lockmark::conformance::cases
