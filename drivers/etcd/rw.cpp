// etcd/rw and etcd/rw_read: the two halves of a read-write lock, the Go client's recipe.RWMutex.
//
// Readers' and writers' keys share one prefix. A writer waits for the youngest key of those that
// are older than its own, a reader for the youngest such writer's; so the end of a writer wakes all
// readers behind it. The recipe names keys by the time of their creation; the lease is as unique
// here, because a client has one key of each name.
#include <fmt/format.h>

#include "drivers/etcd/driver.hpp"
#include "drivers/etcd/etcd.hpp"
#include "drivers/etcd/paths.hpp"

namespace lockmark::etcd {
namespace {

struct half {
  std::string_view own;        // behind the lock's prefix
  std::string_view waits_for;  // all keys whose names begin so
};
constexpr half reader{"read", "write"};
constexpr half writer{"write", ""};

template <const half& which>
class rw_session final : public lock_session {
 public:
  using lock_session::lock_session;

 private:
  task<outcome<grant>> take(request r, limits until, hold& mine) override {
    const std::string prefix = key_of(r) + '/';
    mine.key = fmt::format("{}{}/{:x}", prefix, which.own, mine.under->id);
    const std::string request = create_request(mine.key, mine.under->id);
    const answer said = co_await etcd().call(txn_path, request, until.calls());
    if (!said.ok()) co_return ending_of(said);
    const created place = etcd().believed(read_created(said.body), txn_path);
    // Left by an attempt that nobody could take back; it ends with the lease.
    if (!place.done) co_return doubt::connection_lost;
    const grant granted{static_cast<std::uint64_t>(place.at)};

    const std::string older = fmt::format("{}{}", prefix, which.waits_for);
    const auto turn = co_await wait_for_older(last_changed_request, older, place.at, until);
    if (!turn.done()) co_return co_await give_up(mine, turn.why_refused(), until);
    co_return granted;
  }
};

}  // namespace

lock_kind rw() {
  return {
      .name = "etcd/rw",
      .summary = "the exclusive half of a read-write lock: waits for every key before its own",
      .has = feature::fencing_token | feature::session_bound | feature::session_timeout |
             feature::server_wait | feature::fair,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "etcd's Go client 3.5, recipe.RWMutex.Lock",
      .cost = {3, 3},
      .options = {},
      .make = make_driver_of<rw_session<writer>>,
      .readers = "etcd/rw_read",
  };
}

lock_kind rw_read() {
  return {
      .name = "etcd/rw_read",
      .summary =
          "the shared half of a read-write lock: waits for every writer's key before its own",
      .has = feature::session_bound | feature::session_timeout | feature::server_wait |
             feature::fair | feature::shared,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "etcd's Go client 3.5, recipe.RWMutex.RLock",
      .cost = {3, 3},
      .options = {},
      .make = make_driver_of<rw_session<reader>>,
      .holders = [](const option_values&) -> std::uint32_t { return 0; },
  };
}

}  // namespace lockmark::etcd
