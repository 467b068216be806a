// What the cases on broken networks have in common.
#pragma once

#include "drivers/conformance/stage.hpp"

namespace lockmark::conformance {

inline constexpr duration soon = 300ms;  // deadlines that a silent server makes pass

// The next request is heard and its reply lost. Servers that know nothing of each other all hear
// it, and each loses its own; of others, who may pass requests on, all are cut with the first.
void lose_replies(stage& s);

// A takes and gives up once, so that its connection stands and its scripts are known. From then
// on its leases are short.
task<party> warm_party(stage& s);

// Gives up what may be held, over a connection that may first have to come back.
task<outcome<nothing>> settle(party who);

// What happens during a call that never gets its answer.
template <class T>
void expect_unanswered(const outcome<T>& o, const char* call) {
  EXPECT_FALSE(o.done()) << call << " was answered by nobody, and done all the same";
  EXPECT_FALSE(o.refused(refusal::not_owner)) << call << " cannot know that";
  EXPECT_FALSE(o.refused(refusal::busy)) << call << " cannot know that";
  EXPECT_FALSE(o.refused(refusal::deadline)) << call << " has waited for nobody but a server";
}

}  // namespace lockmark::conformance
