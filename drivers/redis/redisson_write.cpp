// redis/redisson_write: the writers' side of Redisson's RReadWriteLock; redis/redisson_read is the
// other, and says what the hash looks like.
//
// A writer's field is the owner's with ":write". A re-entry adds its lease to what is left of the
// one before. Who reads cannot begin to write; who writes may read, and is a reader when its last
// write is given up. The release wakes every waiter, because they may all be readers.
#include "drivers/redis/redis.hpp"
#include "drivers/redis/redisson_session.hpp"

namespace lockmark::redis {
namespace {

// KEYS: lock. ARGV: lease in ms, writer. nil: taken; else how long the holder's lease still lasts.
constexpr std::string_view take_write_lua = R"(
local mode = redis.call('HGET', KEYS[1], 'mode')
if not mode then
  redis.call('HSET', KEYS[1], 'mode', 'write')
  redis.call('HSET', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
local lasts = redis.call('PTTL', KEYS[1])
if mode ~= 'write' or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return lasts end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], lasts + ARGV[1])
return nil
)";

// KEYS: lock, channel, latch.
// ARGV: message, lease in ms, writer, publishing command, latch in ms.
// nil: not the writer's; 1: given up; 0: the writer still holds it.
constexpr std::string_view give_up_write_lua = R"(
local answered = redis.call('GET', KEYS[3])
if answered then return tonumber(answered) end
local mode = redis.call('HGET', KEYS[1], 'mode')
if not mode then
  redis.call(ARGV[4], KEYS[2], ARGV[1])
  redis.call('SET', KEYS[3], 1, 'PX', ARGV[5])
  return nil
end
if mode ~= 'write' or redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return nil end
if redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('SET', KEYS[3], 0, 'PX', ARGV[5])
  return 0
end
redis.call('HDEL', KEYS[1], ARGV[3])
if redis.call('HLEN', KEYS[1]) == 1 then
  redis.call('DEL', KEYS[1])
  redis.call(ARGV[4], KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[1], 'mode', 'read')
end
redis.call('SET', KEYS[3], 1, 'PX', ARGV[5])
return 1
)";

class write_session final : public redisson_session {
 public:
  write_session(loop& l, run_data& run, const instance& who) : redisson_session(l, run, who) {
    for (std::uint32_t i = 0; i < who.clients; ++i) {
      writers_.push_back(owner({.client = i}) + ":write");
    }
  }

 protected:
  rlock the_lock(const request& r) const override { return {0, key(r), writers_[r.client]}; }

  task<outcome<reply>> tell(const rlock& what, const request& r, std::string_view channel,
                            std::string_view latch) override {
    return run_script(give_up_script, what, r, 3, what.name, channel, latch, read_unlock_message,
                      milliseconds(r.lease), what.holder, publish_command(), latch_ms);
  }

  void append_channel_of(std::string& out, const rlock& what) const override {
    append_rw_channel(out, what.name);
  }

 private:
  std::vector<std::string> writers_;  // by request::client
};

}  // namespace

lock_kind redisson_write() {
  return {
      .name = "redis/redisson_write",
      .summary = "writers of Redisson's RReadWriteLock; redis/redisson_read are its readers",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant,
      .promises = safety::best_effort,
      .topologies = "redis redis-sentinel redis-cluster",
      .algorithm = "Redisson 3.52 to 4.7, RReadWriteLock.writeLock()",
      .options = {wait_option()},
      .make =
          [](const driver_setup& s) {
            return make_driver(s,
                               {.scripts = {take_write_lua, give_up_write_lua, redisson_extend_lua},
                                .make_session = make_session<write_session>,
                                .connections_beside = 1});
          },
  };
}

}  // namespace lockmark::redis
