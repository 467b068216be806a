// redis/set_nx_px: the lock of Redis's own documentation on one server, without a script to
// acquire.
//
// Acquire is SET key owner NX PX lease. How it is released is an option, because two ways that are
// often seen are wrong: `del` deletes whatever is there, and `compare_then_del` leaves time between
// looking and deleting, in which the lease may end and another owner come.
#include "drivers/redis/confirmation.hpp"
#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/owner_scripts.hpp"
#include "drivers/redis/redis.hpp"

namespace lockmark::redis {
namespace {

enum class release_by : std::uint8_t { script, del, compare_then_del };

release_by release_of(std::string_view option) {
  if (option == "del") return release_by::del;
  if (option == "compare_then_del") return release_by::compare_then_del;
  return release_by::script;
}

bool accepts_release(std::string_view value) {
  return value == "script" || value == "del" || value == "compare_then_del";
}

class set_nx_px_session final : public lock_session {
 public:
  set_nx_px_session(loop& l, run_data& run, const instance& who)
      : lock_session(l, run, who),
        way_(release_of(run.options.at("release"))),
        replicas_(replicas_wanted(run.options)) {}

  task<outcome<grant>> acquire(request r) override {
    if (replicas_ > 0) return acquire_confirmed(r);
    return acquire_alone(r);
  }

  task<outcome<grant>> renew(request r) override {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await client(r).evaluate(r, run_.scripts[extend_if_owner], 1, key(r),
                                                  owner(r), milliseconds(r.lease));
    co_return done_if(said, 1, g, refusal::not_owner);
  }

  task<outcome<nothing>> release(request r) override {
    if (way_ == release_by::script) {
      const auto said =
          co_await client(r).evaluate(r, run_.scripts[delete_if_owner], 1, key(r), owner(r));
      co_return done_if(said, 1, nothing{}, refusal::not_owner);
    }
    if (way_ == release_by::compare_then_del) {
      const auto said = co_await client(r).command(r, "GET", key(r));
      if (!said.done()) co_return said.without_value<nothing>();
      if (said.value().text != owner(r)) co_return refusal::not_owner;
    }
    const auto said = co_await client(r).command(r, "DEL", key(r));
    co_return done_if(said, 1, nothing{}, refusal::not_owner);
  }

 private:
  task<outcome<grant>> acquire_alone(request r) {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said =
        co_await client(r).command(r, "SET", key(r), owner(r), "NX", "PX", milliseconds(r.lease));
    if (!said.done()) co_return said.without_value<grant>();
    if (said.value().is(reply::kind::nil)) co_return refusal::busy;
    co_return g;
  }

  task<outcome<grant>> acquire_confirmed(request r) {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await client(r).command_confirmed(r, replicas_, "SET", key(r), owner(r),
                                                           "NX", "PX", milliseconds(r.lease));
    if (!said.done()) co_return said.without_value<grant>();
    if (said.value().said.is(reply::kind::nil)) co_return refusal::busy;
    if (said.value().confirmed >= replicas_) co_return g;
    const auto undone = co_await client(r).evaluate(taking_back(r), run_.scripts[delete_if_owner],
                                                    1, key(r), owner(r));
    co_return ending_of_undone(done_if(undone, 1, nothing{}, refusal::not_owner));
  }

  release_by way_;
  std::int64_t replicas_;  // that have to confirm a lock; 0: none
};

}  // namespace

lock_kind set_nx_px() {
  return {
      .name = "redis/set_nx_px",
      .summary = "SET NX PX; compare-and-delete in a script",
      .has = feature::lease | feature::renewable,
      .promises = safety::best_effort,
      .topologies = "redis redis-sentinel redis-cluster",
      .algorithm = "Redis's documentation of distributed locks, on one server",
      .options = {{.name = "release",
                   .values = "script, del, compare_then_del",
                   .preset = "script",
                   .help =
                       "how to release: script compares and deletes at once; del deletes also "
                       "another owner's lock; compare_then_del may, when the lease ends between "
                       "its two commands",
                   .accepts = accepts_release},
                  wait_replicas_option()},
      .make =
          [](const driver_setup& s) {
            return make_driver(
                s, {{delete_if_owner_lua, extend_if_owner_lua}, make_session<set_nx_px_session>});
          },
  };
}

}  // namespace lockmark::redis
