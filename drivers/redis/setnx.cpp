// redis/setnx: the oldest and simplest lock, shown for what it is worth.
// redis/setnx_expire: the same with a lease that comes too late.
//
// SETNX takes the key, DEL gives it up. Without a lease, a client that dies keeps the lock for
// ever. No owner's mark is checked: a DEL frees the lock, also somebody else's.
//
// With `grant=exists`, what SETNX answers is ignored, as in a class that is often copied: EXISTS
// then asks whether the key is there. It is, whoever set it, so that everybody is granted.
//
// setnx_expire sets the lease by a second command, EXPIRE: a client that dies between the two keeps
// the lock for ever. EXPIRE counts whole seconds; a lease is rounded up to them.
#include <optional>

#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/redis.hpp"

namespace lockmark::redis {
namespace {

enum class granted_by : std::uint8_t { answer, exists };

std::optional<granted_by> granted_by_of(std::string_view value) {
  if (value == "answer") return granted_by::answer;
  if (value == "exists") return granted_by::exists;
  return std::nullopt;
}

granted_by granted_by_in(const option_values& options) {
  const auto chosen = options.find("grant");
  return chosen == options.end() ? granted_by::answer : granted_by_of(chosen->second).value();
}

class setnx_session : public lock_session {
 public:
  setnx_session(loop& l, run_data& run, const instance& who)
      : lock_session(l, run, who), by_(granted_by_in(run.options)) {}

  task<outcome<grant>> acquire(request r) override {
    const auto said = co_await client(r).command(r, "SETNX", key(r), "1");
    const auto ending = done_if(said, 1, grant{}, refusal::busy);
    if (by_ == granted_by::answer || !said.done()) co_return ending;
    const auto there = co_await client(r).command(r, "EXISTS", key(r));
    // Not asked: what SETNX has set is there all the same.
    if (there.refused() && ending.done()) co_return doubt::connection_lost;
    co_return done_if(there, 1, grant{}, refusal::busy);
  }

  task<outcome<nothing>> release(request r) override {
    const auto said = co_await client(r).command(r, "DEL", key(r));
    co_return done_if(said, 1, nothing{}, refusal::not_owner);
  }

 private:
  const granted_by by_;
};

class setnx_expire_session final : public setnx_session {
 public:
  using setnx_session::setnx_session;

  task<outcome<grant>> acquire(request r) override {
    const grant g{.valid_until = end_of(r.lease)};
    const auto taken = co_await client(r).command(r, "SETNX", key(r), "1");
    const auto ending = done_if(taken, 1, g, refusal::busy);
    if (!ending.done()) co_return ending;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(r.lease).count();
    const auto bounded = co_await client(r).command(r, "EXPIRE", key(r), seconds);
    // The key is taken, so this is no refusal; and nobody knows for how long.
    if (bounded.refused()) co_return doubt::connection_lost;
    co_return done_if(bounded, 1, g, refusal::busy);
  }
};

constexpr recipe by_setnx{.make_session = make_session<setnx_session>};
constexpr recipe by_setnx_and_expire{.make_session = make_session<setnx_expire_session>};

}  // namespace

lock_kind setnx() {
  return {
      .name = "redis/setnx",
      .summary = "SETNX and DEL: no lease, no owner",
      .has = {},
      .promises = safety::none,
      .topologies = one_deployment,
      .algorithm = "the pattern of the SETNX page of Redis's documentation",
      .cost = {2, 2},
      .options = {{.name = "grant",
                   .values = "answer, exists",
                   .preset = "answer",
                   .help =
                       "what a grant is taken from: SETNX's answer; or exists, wrong on purpose: "
                       "that answer is ignored, and whoever then finds the key there, by EXISTS, "
                       "has the lock, which is everybody",
                   .accepts = [](std::string_view v) { return granted_by_of(v).has_value(); }}},
      .make = make_driver_of<by_setnx>,
  };
}

lock_kind setnx_expire() {
  return {
      .name = "redis/setnx_expire",
      .summary =
          "SETNX, then EXPIRE as a second command; DEL: a crash in between leaves the lock held "
          "forever",
      .has = feature::lease,
      .promises = safety::none,
      .topologies = one_deployment,
      .algorithm = "two commands, as often seen before SET knew NX and PX together",
      .cost = {3, 3},
      .options = {},
      .make = make_driver_of<by_setnx_and_expire>,
  };
}

}  // namespace lockmark::redis
