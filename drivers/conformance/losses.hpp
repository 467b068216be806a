// Common helpers of the cases on broken networks.
#pragma once

#include "drivers/conformance/stage.hpp"

namespace lockmark::conformance {

inline constexpr duration soon = 300ms;  // deadlines that pass on a silent server

// The next request arrives and its reply is lost. Independent servers all receive it, and each
// loses its own reply; servers that may forward requests are all cut with the first.
void lose_replies(stage& s);

// A acquires and releases once, so that its connection is open and its scripts are loaded. From
// then on its leases are short.
task<party> warm_party(stage& s);

// Releases a possible hold, over a connection that may first have to come back.
task<outcome<nothing>> settle(party who);

// Events during a call that never gets its reply.
template <class T>
void expect_unanswered(const outcome<T>& o, const char* call) {
  EXPECT_FALSE(o.done()) << call << " was answered by nobody, and done all the same";
  EXPECT_FALSE(o.refused(refusal::not_owner)) << call << " cannot know that";
  EXPECT_FALSE(o.refused(refusal::busy)) << call << " cannot know that";
  EXPECT_FALSE(o.refused(refusal::deadline)) << call << " has waited for nobody but a server";
}

}  // namespace lockmark::conformance
