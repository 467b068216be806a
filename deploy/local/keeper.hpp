// The keeper: a small process that is the parent of all servers of one cluster and outlives its
// owner just long enough to clean up.
//
// Owner and keeper share a socketpair (SOCK_SEQPACKET: a message is a packet). The owner's end
// closes when the owner ends, in whatever way: the kernel closes it even after `kill -9`. The
// keeper then stops the servers, removes the directory and exits. In case the keeper itself dies,
// the servers have PR_SET_PDEATHSIG.
//
// The keeper is forked from the owner without exec. With exec, every program that uses this library
// (the tests too) would need a hidden argument in its main(), and the plan a serialised form. The
// price: the keeper closes every inherited descriptor, since it would otherwise keep the owner's
// pipes open and other keepers alive, and it never starts a thread.
//
// Messages to the keeper: "kill SIGNAL NAME", "restart NAME", "revive NAME", "revive-empty NAME",
// "detach" (see cluster.hpp). Each is answered by a `reply` as JSON; the first reply comes unasked,
// when all servers answer or the start has failed. With a go_between (options), a reply with the
// ways between the servers comes before it, and is answered by "ways PORT ...".
#pragma once

#include "deploy/local/process.hpp"
#include "deploy/local/topology.hpp"

namespace lockmark::local {

// The body of the forked child, until the owner's end of `control` closes or a SIGTERM or SIGINT
// arrives. `control` is the keeper's end of the pair. All signals must be blocked since before the
// fork, so that none of the owner's handlers runs in the child.
[[noreturn]] void run_keeper(const topology& what, const options& with, int control) noexcept;

// The file from which a server's clock shim reads how far its clock is ahead, in ns.
std::filesystem::path clock_file(const std::filesystem::path& cluster, std::string_view server);

}  // namespace lockmark::local
