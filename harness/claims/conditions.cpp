// When each statement holds and when it does not: what those who repeat it leave out. By reasoning
// from how locks and servers work; the figures beside it show which case a cluster is in.
#include <algorithm>
#include <array>

#include "harness/claims/claim.hpp"

namespace lockmark::claims {
namespace {

struct remark {
  std::string_view id;
  std::string_view text;
};

constexpr std::array remarks{
    remark{"1a",
           "The order is that of disk writes, not of products. Redis keeps the lock in memory; a "
           "transaction that only reads FOR UPDATE and commits flushes nothing either; ZooKeeper "
           "syncs a create and a delete to its log. MySQL comes last only where each lock commits "
           "a change, as mysql/unique_key does."},
    remark{"1b",
           "On one key the hand-off decides. InnoDB's queue and polling Redis end up close to each "
           "other, and which is ahead depends on the pauses between polls."},
    remark{"1c",
           "All three serve as many as fit into the wait, about wait / hold; the rest of the "
           "difference is the time that passes between a release and the next grant, in which a "
           "polling lock is idle."},
    remark{"1d",
           "Safety costs commands and server time: SETNX is one plain command without lease or "
           "owner, a script adds both, a hash with its message to waiters adds more. Who calls "
           "lua fastest compares it with SETNX and EXPIRE as two commands."},
    remark{"1e",
           "Under contention the pauses between polls matter more than the commands; a lock that "
           "is told of the release does not depend on them."},
    remark{"2a", "True of what has neither lease nor session; every other lock here comes free."},
    remark{"2b",
           "True, and the sweeper brings the lease's own trouble: it also deletes the row of a "
           "holder that is only slow."},
    remark{"3a", "True of every lease that nobody renews."},
    remark{"3b",
           "Compare-then-delete goes wrong only if the lease ends between its two commands, which "
           "takes a pause at just that moment; DEL goes wrong after any pause."},
    remark{"4a",
           "The watchdog helps against long work, not against a pause of the whole process (6): "
           "then it sleeps, too."},
    remark{"4b",
           "A renewal is one command every third of the lease, so it shows only where leases are a "
           "few times the hold or less; here the lease is 30 s and the hold 5 ms."},
    remark{"5",
           "Only for a lock that had not reached the replica which takes over. WAIT closes that "
           "window for a cut link, not for every failover: planned ones of Sentinel still gave "
           "two holders (results/2026-11-faults)."},
    remark{"6",
           "The token protects nothing by itself: the resource must compare it, and must be the "
           "only way to what is protected."},
    remark{"7a",
           "True, with no node to spare: all of the remaining three must say yes every time."},
    remark{"7b",
           "On one machine the five share its cores, so this is more than the cost of asking five; "
           "with a core for each, the slowest of five answers remains."},
    remark{"7c",
           "An even number of nodes makes ties likely, and random pauses between tries make them "
           "short; with five and few contenders they are rare."},
    remark{"7d",
           "It takes two faults at once: some nodes unreachable, and one that forgets. A node that "
           "stays away for longer than the longest lease after a crash does no harm."},
    remark{"7e",
           "True of nodes that are silent, by the timeout for a node (here 50 ms, all asked at "
           "once). A node that refuses connections costs next to nothing."},
    remark{"8a",
           "After the session timeout, which is seconds; and the servers round it to their ticks."},
    remark{"8b",
           "The same as with a lease (6); what ZooKeeper has to set against it is the czxid as "
           "fencing token, which most recipes do not pass on."},
    remark{"8c",
           "The lock is kept, the service is not: nobody is granted anything until there is a new "
           "leader, and clients that cannot reconnect within their session lose it."},
    remark{"9a",
           "What grows is what the waiters cost the server. With longer pauses polling costs less, "
           "and hands off later."},
    remark{"9b", "True; with a handful of waiters it hardly matters."},
    remark{"10a",
           "True under InnoDB's REPEATABLE READ, which locks what it had to read; without an index "
           "that is every row."},
    remark{"10b",
           "No lost update is among the conflicts: it is safe, and pays for contention by trying "
           "again."},
    remark{
        "11",
        "True of every lock, not of Redisson: at most about wait / hold can succeed out of those "
        "that ask at the same time."},
    remark{"12",
           "Only where each deployment has cores and a network of its own, and the keys are many: "
           "on one machine five servers share what one had to itself, and a single hot key stays "
           "in one place anyhow."},
    remark{"13",
           "Of one server on a core of its own, with enough clients or pipelining. A lock needs "
           "two commands or more, so halve it."},
};

}  // namespace

std::string_view condition_of(std::string_view id) {
  const auto* found = std::ranges::find(remarks, id, &remark::id);
  return found == remarks.end() ? std::string_view{} : found->text;
}

}  // namespace lockmark::claims
