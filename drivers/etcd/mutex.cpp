// etcd/mutex: a queue of keys, each under the lease of its client and each waiting for the one that
// was created before it: the Go client's concurrency.Mutex.
//
// One transaction creates the client's key and looks for the oldest one; without contention that is
// all. A waiter watches the youngest of those that are older than its own, so that a release wakes
// one waiter only; then it reads its own key again, which is gone if its lease has ended meanwhile.
// As with the original, such a waiter hears of that only when its turn has come.
//
// The original watches from the revision of its read. To a server that is history, which it looks
// through for all watches together, once in 100 ms; so a waiter that comes to the head of the queue
// earlier than that waits for nothing. The key was still there at that revision, so to watch from
// the next one is as safe, and served at once: watch_from=next.
#include <fmt/format.h>

#include "drivers/etcd/driver.hpp"
#include "drivers/etcd/etcd.hpp"
#include "drivers/etcd/paths.hpp"

namespace lockmark::etcd {
namespace {

class mutex_session final : public lock_session {
 public:
  using lock_session::lock_session;

 private:
  task<outcome<grant>> take(request r, limits until, hold& mine) override {
    const std::string prefix = key_of(r) + '/';
    mine.key = fmt::format("{}{:x}", prefix, mine.under->id);
    const std::string request = enrol_request(mine.key, prefix, mine.under->id);
    const answer said = co_await etcd().call(txn_path, request, until.calls());
    if (!said.ok()) co_return ending_of(said);
    const enrolled place = etcd().believed(read_enrolled(said.body), txn_path);
    const grant granted{static_cast<std::uint64_t>(place.mine)};
    if (place.first == 0 || place.first == place.mine) co_return granted;

    const auto turn = co_await wait_for_older(last_created_request, prefix, place.mine, until);
    if (!turn.done()) co_return co_await give_up(mine, turn.why_refused(), until);
    const answer seen = co_await etcd().call(range_path, get_request(mine.key), until.calls());
    if (!seen.ok()) co_return co_await give_up(mine, too_late(), until);
    const found own = etcd().believed(read_found(seen.body), range_path);
    if (!own.key.empty()) co_return granted;
    mine.under->over = true;
    co_return refusal::unavailable;
  }
};

}  // namespace

lock_kind mutex() {
  return {
      .name = "etcd/mutex",
      .summary = "a queue of keys under leases, each watching the one created before it",
      .has = feature::fencing_token | feature::session_bound | feature::session_timeout |
             feature::server_wait | feature::fair,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "etcd's Go client 3.5, concurrency.Mutex",
      .cost = {2, 2},
      .options = {watch_option()},
      .make = make_driver_of<mutex_session>,
  };
}

}  // namespace lockmark::etcd
