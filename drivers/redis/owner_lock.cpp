// Three locks that are a plain string, the mark of their owner. Best effort: a lease that ran out,
// or a failover that lost the key, lets a second holder in, and there is no fencing token.
//
// redis/set_nx_px: the lock of Redis's own documentation on one server. SET NX PX takes it, without
// a script; a script compares and deletes, or one command does where the server has it: `command`
// is DELIFEQ of Valkey 9.0, or DELEX of Redis 8.4. Two other ways to release that are often seen
// are wrong, and an option: `del` deletes whatever is there, and `compare_then_del` leaves time
// between looking and deleting, in which the lease may end and another owner come.
//
// redis/lua: the lock of most small libraries. SETNX and PEXPIRE in one script take it. With the
// option `watchdog`, holds are renewed every third of their lease in the background. With
// `script=loaded`, each step is three commands, as in a class that is often copied: SCRIPT LOAD,
// SCRIPT EXISTS, and EVAL with the whole text.
//
// redis/sharded: redis/set_nx_px in several deployments, servers or Clusters, that know nothing of
// each other. The key's hash says in which one it lives. More deployments carry more keys, but
// never one key better: if a deployment is down, so are its keys.
#include "drivers/redis/owner_lock.hpp"

#include <memory>
#include <optional>

#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/slot.hpp"
#include "drivers/redis/watchdog.hpp"

namespace lockmark::redis {
namespace {

// KEYS: lock. ARGV: owner, lease in ms. 1: taken.
constexpr std::string_view take_lua = R"(
if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
)";

enum class release_by : std::uint8_t { script, command, del, compare_then_del };

std::optional<release_by> release_of(std::string_view value) {
  if (value == "script") return release_by::script;
  if (value == "command") return release_by::command;
  if (value == "del") return release_by::del;
  if (value == "compare_then_del") return release_by::compare_then_del;
  return std::nullopt;
}

release_by release_in(const option_values& options) {
  const auto chosen = options.find("release");
  return chosen == options.end() ? release_by::script : release_of(chosen->second).value();
}

std::optional<std::int64_t> replicas_in(std::string_view text) {
  constexpr std::int64_t most = 100;
  const auto count = whole_number<std::int64_t>(text);
  return count && *count >= 0 && *count <= most ? count : std::nullopt;
}

bool is_script_way(std::string_view value) {
  return value == "cached" || value == "loaded";
}

bool loads_in(const option_values& options) {
  const auto chosen = options.find("script");
  return chosen != options.end() && chosen->second == "loaded";
}

class owner_session final : public lock_session {
 public:
  owner_session(loop& l, run_data& run, const instance& who)
      : lock_session(l, run, who),
        way_(release_in(run.options)),
        replicas_(replicas_wanted(run.options)),
        has_take_script_(run.scripts.size() > first_other_script),
        loads_(loads_in(run.options)) {
    if (loads_ && run.places[0].how == target::form::cluster) {
      throw usage_error(
          "options.script: SCRIPT LOAD and SCRIPT EXISTS name no key by which a Cluster would send "
          "them to the lock's node; use script=cached");
    }
    if (!watched(run.options)) return;
    watchdog_ = std::make_unique<watchdog>(
        l, servers_of(0), sent_, who.clients, 1,
        [this](connection& c, const std::vector<watchdog::hold>& one, duration lease,
               time_point deadline) {
          return extend(c, {.key = one[0].key, .client = one[0].client, .lease = lease}, deadline);
        });
  }

  task<void> connect(time_point deadline) override {
    co_await lock_session::connect(deadline);
    if (way_ != release_by::command) co_return;
    for (std::size_t place = 0; place < places(); ++place) {
      const bool valkey = co_await has(place, deadline, "DELIFEQ", run_.keys.front(), "");
      const bool redis =
          !valkey && co_await has(place, deadline, "DELEX", run_.keys.front(), "IFEQ", "");
      if (!valkey && !redis) {
        throw usage_error(
            "options.release: {} has no command that compares and deletes: Valkey has DELIFEQ from "
            "9.0 on, and Redis has DELEX from 8.4 on; release=script works with all",
            run_.places[place].name());
      }
      deletes_by_delifeq_.push_back(valkey);
    }
  }

  task<outcome<grant>> acquire(request r) override { return watchdog_ ? take_watched(r) : take(r); }

  task<outcome<grant>> renew(request r) override {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await extend(home(r), r, r);
    co_return done_if(said, 1, g, refusal::not_owner);
  }

  task<outcome<nothing>> release(request r) override {
    if (watchdog_) watchdog_->remove({r.key, r.client});
    if (way_ == release_by::command) return delete_by_command(r);
    return way_ == release_by::script ? delete_mine(r) : delete_key(r);
  }

  task<void> close() override {
    if (watchdog_) co_await watchdog_->close();
    co_await lock_session::close();
    if (watchdog_) watchdog_->throw_failure();
  }

 private:
  std::size_t place_of(const request& r) const {
    return places() == 1 ? 0 : shard_of(key(r), places());
  }
  connection& home(const request& r) { return client(r, place_of(r)); }

  // Whether the server knows the command, which must change nothing.
  template <class... Arguments>
  task<bool> has(std::size_t place, time_point deadline, const Arguments&... arguments) {
    const request first{};
    const reply said = co_await client(first, place).demand(deadline, arguments...);
    co_return !said.is(reply::kind::error);
  }

  task<outcome<grant>> take(request r) {
    if (loads_) return take_loaded(r);
    return replicas_ > 0 ? take_confirmed(r) : take_alone(r);
  }

  task<outcome<grant>> take_loaded(request r) {
    const auto ready = co_await load(home(r), r, first_other_script);
    if (ready.in_doubt()) co_return refusal::unavailable;  // what was asked takes nothing
    if (!ready.done()) co_return ready.without_value<grant>();
    auto taking = replicas_ > 0 ? take_confirmed(r) : take_alone(r);
    co_return co_await std::move(taking);
  }

  task<outcome<grant>> take_watched(request r) {
    const outcome<grant> ending = co_await take(r);
    if (ending.done()) watchdog_->add({r.key, r.client}, r.lease, ending.value().valid_until);
    co_return ending;
  }

  task<outcome<grant>> take_alone(request r) {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await ask(r);
    if (!said.done()) co_return said.without_value<grant>();
    if (!is_yes(said.value())) co_return refusal::busy;
    co_return g;
  }

  task<outcome<grant>> take_confirmed(request r) {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await ask_confirmed(r);
    if (!said.done()) co_return said.without_value<grant>();
    if (!is_yes(said.value().said)) co_return refusal::busy;
    if (said.value().confirmed >= replicas_) co_return g;
    const auto undone = co_await delete_mine(taking_back(r));
    co_return ending_of_undone(undone);
  }

  task<outcome<reply>> ask(const request& r) {
    const std::int64_t lease = milliseconds(r.lease);
    if (!has_take_script_) return home(r).command(r, "SET", key(r), owner(r), "NX", "PX", lease);
    return evaluate(home(r), r, first_other_script, key(r), owner(r), lease);
  }

  task<outcome<replicated_reply>> ask_confirmed(const request& r) {
    const std::int64_t lease = milliseconds(r.lease);
    if (!has_take_script_) {
      return home(r).command_confirmed(r, replicas_, "SET", key(r), owner(r), "NX", "PX", lease);
    }
    return home(r).command_confirmed(r, replicas_, "EVAL", run_.scripts[first_other_script].text, 1,
                                     key(r), owner(r), lease);
  }

  task<outcome<reply>> extend(connection& c, const request& r, time_limit until) {
    if (loads_) return extend_loaded(c, r, until);
    return evaluate(c, until, extend_if_owner, key(r), owner(r), milliseconds(r.lease));
  }

  task<outcome<reply>> extend_loaded(connection& c, request r, time_limit until) {
    const auto ready = co_await load(c, until, extend_if_owner);
    if (!ready.done()) co_return ready.without_value<reply>();
    const std::int64_t lease = milliseconds(r.lease);
    co_return co_await evaluate(c, until, extend_if_owner, key(r), owner(r), lease);
  }

  // Runs a script with one key: by its name, or with its whole text.
  template <class... Arguments>
  task<outcome<reply>> evaluate(connection& c, time_limit until, std::size_t which,
                                const Arguments&... arguments) {
    const script& s = run_.scripts[which];
    if (loads_) return c.command(until, "EVAL", s.text, 1, arguments...);
    return c.evaluate(until, s, 1, arguments...);
  }

  // The first two commands of a step.
  task<outcome<nothing>> load(connection& c, time_limit until, std::size_t which) {
    const script& s = run_.scripts[which];
    const auto loaded = co_await c.command(until, "SCRIPT", "LOAD", s.text);
    if (!loaded.done()) co_return loaded.without_value<nothing>();
    const auto known = co_await c.command(until, "SCRIPT", "EXISTS", s.sha1);
    if (!known.done()) co_return known.without_value<nothing>();
    const std::vector<reply>& there = known.value().parts;
    if (there.size() != 1 || there[0].number != 1) co_return refusal::unavailable;
    co_return nothing{};
  }

  task<outcome<nothing>> delete_mine(request r) {
    if (loads_) {
      const auto ready = co_await load(home(r), r, delete_if_owner);
      if (!ready.done()) co_return ready;
    }
    const auto said = co_await evaluate(home(r), r, delete_if_owner, key(r), owner(r));
    co_return done_if(said, 1, nothing{}, refusal::not_owner);
  }

  task<outcome<nothing>> delete_by_command(request r) {
    const auto said = co_await ask_to_delete(r);
    co_return done_if(said, 1, nothing{}, refusal::not_owner);
  }

  task<outcome<reply>> ask_to_delete(const request& r) {
    if (deletes_by_delifeq_[place_of(r)]) return home(r).command(r, "DELIFEQ", key(r), owner(r));
    return home(r).command(r, "DELEX", key(r), "IFEQ", owner(r));
  }

  task<outcome<nothing>> delete_key(request r) {
    if (way_ == release_by::compare_then_del) {
      const auto said = co_await home(r).command(r, "GET", key(r));
      if (!said.done()) co_return said.without_value<nothing>();
      if (said.value().text != owner(r)) co_return refusal::not_owner;
    }
    const auto said = co_await home(r).command(r, "DEL", key(r));
    co_return done_if(said, 1, nothing{}, refusal::not_owner);
  }

  const release_by way_;
  const std::int64_t replicas_;           // that have to confirm a lock; 0: none
  const bool has_take_script_;            // false: SET NX PX
  const bool loads_;                      // each script before it is run
  std::vector<bool> deletes_by_delifeq_;  // by place, if the release is one command
  std::unique_ptr<watchdog> watchdog_;    // null: without
};

constexpr recipe by_set{.make_session = make_session<owner_session>,
                        .scripts = {delete_if_owner_lua, extend_if_owner_lua}};
constexpr recipe by_script{.make_session = make_session<owner_session>,
                           .scripts = {delete_if_owner_lua, extend_if_owner_lua, take_lua},
                           .watchdog_batch = 1};
constexpr recipe in_shards{.make_session = make_session<owner_session>,
                           .scripts = {delete_if_owner_lua, extend_if_owner_lua},
                           .over = spread::all_places};

}  // namespace

lock_option wait_replicas_option() {
  return {.name = "wait_replicas",
          .values = "0 to 100",
          .preset = "0",
          .help =
              "a lock is only taken once so many replicas have confirmed it (WAIT, up to 1 s), "
              "and otherwise given up again; 0: nobody asks them",
          .accepts = [](std::string_view v) { return replicas_in(v).has_value(); }};
}

std::int64_t replicas_wanted(const option_values& options) {
  const auto chosen = options.find("wait_replicas");
  return chosen == options.end() ? 0 : replicas_in(chosen->second).value_or(0);
}

outcome<grant> ending_of_undone(const outcome<nothing>& undone) {
  if (undone.done() || undone.refused(refusal::not_owner)) return refusal::unavailable;
  return undone.in_doubt() ? undone.why_in_doubt() : doubt::deadline;
}

lock_kind set_nx_px() {
  return {
      .name = "redis/set_nx_px",
      .summary = "SET NX PX; compare-and-delete in a script",
      .has = feature::lease | feature::renewable,
      .promises = safety::best_effort,
      .topologies = one_deployment,
      .algorithm = "Redis's documentation of distributed locks, on one server",
      .cost = {2, 2},
      .options = {{.name = "release",
                   .values = "script, command, del, compare_then_del",
                   .preset = "script",
                   .help =
                       "how to release: script compares and deletes at once; command does so "
                       "without a script, where the server can (Valkey 9.0, Redis 8.4); del "
                       "deletes also another owner's lock; compare_then_del may, when the lease "
                       "ends between its two commands",
                   .accepts = [](std::string_view v) { return release_of(v).has_value(); }},
                  wait_replicas_option()},
      .make = make_driver_of<by_set>,
  };
}

lock_kind lua() {
  return {
      .name = "redis/lua",
      .summary = "SETNX and PEXPIRE in a script; compare-and-delete in another",
      .has = feature::lease | feature::renewable,
      .promises = safety::best_effort,
      .topologies = one_deployment,
      .algorithm = "two scripts, as most small Redis lock libraries have them",
      .cost = {2, 2},
      .options = {{.name = "script",
                   .values = "cached, loaded",
                   .preset = "cached",
                   .help =
                       "how to run a script: by its name alone, EVALSHA; or, in three commands, "
                       "SCRIPT LOAD, SCRIPT EXISTS and EVAL, which no Cluster can route",
                   .accepts = is_script_way},
                  watchdog_option(),
                  wait_replicas_option()},
      .make = make_driver_of<by_script>,
  };
}

lock_kind sharded() {
  return {
      .name = "redis/sharded",
      .summary = "SET NX PX in one of several deployments, chosen by the key's hash",
      .has = feature::lease | feature::renewable,
      .promises = safety::best_effort,
      .topologies = "redis-independent redis-clusters",
      .algorithm = "FNV-1a of the key, modulo the number of deployments; then redis/set_nx_px",
      .cost = {2, 2},
      .options = {},
      .make = make_driver_of<in_shards>,
  };
}

}  // namespace lockmark::redis
