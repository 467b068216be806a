// What an error of etcd's means for a lock: its code of gRPC and its words, judged.
//
// Source: etcd 3.4 to 3.6, api/v3rpc/rpctypes/error.go. The words decide before the code, because
// errors of the server's own client (v3lock) arrive with code 2, "unknown".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockmark::etcd {

enum class trouble : std::uint8_t {
  none,
  not_now,       // not executed: no leader, too many requests
  unknown,       // may have been executed: timed out, leader changed, server stopped
  lease_gone,    // not executed: the lease has ended
  token_ended,   // not executed: log in again
  bad_login,     // user or password is wrong
  no_login,      // a login was refused because the server has no users
  needs_login,   // without a user nothing is allowed
  no_rights,     // this user may not
  out_of_space,  // the server's quota is exhausted, and it takes no more writes
  unexpected,    // no outcome of a lock: the run ends
};

// `code`: of gRPC, 0 for success.
trouble judge_status(int code, std::string_view message);

// For people: "permission denied" or "code 12: unknown service"; printable, at most 200 characters.
std::string words_of(int code, std::string_view message);

// The end of a sentence that begins with the server's name, "answered Txn with ..."; with what to
// do about it, where that is known.
std::string complaint_about(trouble t, std::string_view request, int code,
                            std::string_view message);

}  // namespace lockmark::etcd
