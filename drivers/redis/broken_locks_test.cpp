// Locks that are wrong as they are often written: the suite says of each what is wrong with it.
#include <gmock/gmock.h>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/conformance/conformance.hpp"
#include "drivers/redis/test_servers.hpp"

namespace lockmark::redis {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct broken_server {
  static constexpr const char* topology = "redis";
};
using broken_redis_locks = servers_test<broken_server>;

// Whoever asks EXISTS after SETNX is granted always.
TEST_F(broken_redis_locks, setnx_whose_answer_is_ignored) {
  conformance::subject s{.kind = setnx(), .target = url()};
  s.release_checks_owner = false;
  EXPECT_THAT(conformance::findings(s, "exclusion"), IsEmpty());
  EXPECT_THAT(conformance::findings(s, "hammered"), IsEmpty());
  s.options["grant"] = "exists";
  EXPECT_THAT(conformance::findings(s, "exclusion"), Not(IsEmpty()));
  EXPECT_THAT(conformance::findings(s, "hammered"),
              Contains(HasSubstr("more held one key than may")));
}

}  // namespace
}  // namespace lockmark::redis
