#include "drivers/etcd/status.hpp"

#include <gmock/gmock.h>

namespace lockmark::etcd {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct said {
  int code;
  const char* words;
  trouble means;
};

// The words of etcd 3.4 to 3.6; those of the lock service come with code 2.
TEST(judge_status, knows_etcds_errors) {
  const said all[] = {
      {0, "", trouble::none},
      {0, "etcdserver: no leader", trouble::none},
      {5, "etcdserver: requested lease not found", trouble::lease_gone},
      {2, "etcdserver: requested lease not found", trouble::lease_gone},
      {2, "mutex: session is expired", trouble::lease_gone},
      {16, "etcdserver: invalid auth token", trouble::token_ended},
      {3, "etcdserver: revision of auth store is old", trouble::token_ended},
      {3, "etcdserver: authentication failed, invalid user ID or password", trouble::bad_login},
      {9, "etcdserver: authentication is not enabled", trouble::no_login},
      {3, "etcdserver: user name is empty", trouble::needs_login},
      {7, "etcdserver: permission denied", trouble::no_rights},
      {8, "etcdserver: mvcc: database space exceeded", trouble::out_of_space},
      {14, "etcdserver: no leader", trouble::not_now},
      {8, "etcdserver: too many requests", trouble::not_now},
      {14, "etcdserver: leader changed", trouble::unknown},
      {14, "etcdserver: request timed out, possibly due to previous leader failure",
       trouble::unknown},
      {14, "etcdserver: server stopped", trouble::unknown},
      {14, "transport is closing", trouble::unknown},
      {1, "context canceled", trouble::unknown},
      {4, "", trouble::unknown},
      {12, "unknown service v3lockpb.Lock", trouble::unexpected},
      {2, "HTTP status 404", trouble::unexpected},
      {99, "", trouble::unexpected},
  };
  for (const said& s : all) EXPECT_EQ(judge_status(s.code, s.words), s.means) << s.words;
}

// A sentence's end: in few words and printable, with what to do about it.
TEST(complaint_about, is_for_people) {
  const auto complaint = [](int code, std::string_view words) {
    return complaint_about(judge_status(code, words), "Txn", code, words);
  };
  EXPECT_EQ(complaint(7, "etcdserver: permission denied"),
            "answered Txn with an error: permission denied: name a user who may read and write "
            "below lockmark/");
  EXPECT_THAT(complaint(3, "etcdserver: user name is empty"), HasSubstr("etcd://user:password@"));
  EXPECT_THAT(complaint(8, "etcdserver: mvcc: database space exceeded"), HasSubstr("defragment"));
  EXPECT_EQ(complaint(12, "unknown service"),
            "answered Txn with an error: code 12: unknown service");
  EXPECT_EQ(complaint(13, ""), "answered Txn with an error: code 13");
  EXPECT_THAT(complaint(3, "authentication failed"), HasSubstr("refused the login"));
  const std::string odd = "\x1b[2J\n" + std::string(5000, 'x');
  EXPECT_THAT(complaint(12, odd), AllOf(HasSubstr("?[2J?"), Not(HasSubstr("\n"))));
  EXPECT_LT(complaint(12, odd).size(), 300U);
}

}  // namespace
}  // namespace lockmark::etcd
