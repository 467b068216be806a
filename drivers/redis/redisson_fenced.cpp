// redis/redisson_fenced: Redisson's RFencedLock, an RLock that counts its grants.
//
// Every grant, also a re-entry, takes the next number from a counter beside the lock that never
// expires: the fencing token, which never falls while the server keeps its data. The counter is an
// ordinary key, though, and a failover that loses the lock may take it back together with it.
#include "drivers/redis/redis.hpp"
#include "drivers/redis/redisson_session.hpp"

namespace lockmark::redis {
namespace {

// KEYS: lock, counter. ARGV: lease in ms, owner. {-1, token}: taken; else {the holder's lease, -1}.
constexpr std::string_view take_fenced_lua = R"(
local held = redis.call('EXISTS', KEYS[1]) == 1
if held and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return {redis.call('PTTL', KEYS[1]), -1}
end
local token = redis.call('INCR', KEYS[2])
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {-1, token}
)";

class fenced_session final : public redisson_session {
 public:
  fenced_session(loop& l, run_data& run, const instance& who) : redisson_session(l, run, who) {
    for (const std::string& k : run.keys) counters_.push_back(fencing_counter(k));
  }

 protected:
  task<outcome<reply>> ask(const rlock& what, const request& r, duration) override {
    return run_script(take_script, what, r, 2, what.name, counters_[r.key], milliseconds(r.lease),
                      what.holder);
  }

  std::optional<answer> read(const reply& r) const override {
    if (r.parts.size() != 2) return std::nullopt;
    const std::int64_t token = r.parts[1].number;
    return answer{.taken = token >= 0,
                  .pttl_ms = r.parts[0].number,
                  .token = token >= 0 ? static_cast<std::uint64_t>(token) : 0};
  }

 private:
  std::vector<std::string> counters_;  // by request::key
};

}  // namespace

lock_kind redisson_fenced() {
  return {
      .name = "redis/redisson_fenced",
      .summary = "Redisson's RFencedLock: RLock with a counter as fencing token",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant |
             feature::fencing_token,
      .promises = safety::lease_and_token,
      .topologies = "redis redis-sentinel redis-cluster",
      .algorithm = "Redisson 3.52 to 4.7, RFencedLock",
      .options = {wait_option()},
      .make =
          [](const driver_setup& s) {
            return make_driver(
                s, {.scripts = {take_fenced_lua, redisson_give_up_lua, redisson_extend_lua},
                    .make_session = make_session<fenced_session>,
                    .connections_beside = 1,
                    .beside = [](const std::string& lock, const option_values&)
                        -> std::vector<std::string> { return {fencing_counter(lock)}; }});
          },
  };
}

}  // namespace lockmark::redis
