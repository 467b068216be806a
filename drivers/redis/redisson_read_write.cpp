// redis/redisson_read and redis/redisson_write: the two halves of Redisson's RReadWriteLock.
//
// The lock is a hash with a field "mode", read or write, and one for each holder. Readers exclude
// writers, and nobody else; a writer may also read.
//
// A reader's n-th hold has a key of its own beside the hash, which lasts for its lease: when one
// reader leaves, the hash is kept as long as the longest hold of the others. The last reader's
// release wakes one waiter of each instance.
//
// A writer's field is the owner's with ":write". A re-entry adds its lease to the rest of the one
// before. A reader cannot begin to write; a writer may read, and is a reader once its last write is
// given up. A writer's release wakes every waiter, because they may all be readers.
#include <fmt/format.h>

#include <map>

#include "drivers/redis/redis.hpp"
#include "drivers/redis/redisson_session.hpp"

namespace lockmark::redis {
namespace {

// KEYS: lock, the reader's timeouts. ARGV: lease in ms, reader, the same as a writer.
// nil: taken; else the rest of the holder's lease.
constexpr std::string_view take_read_lua = R"(
local mode = redis.call('HGET', KEYS[1], 'mode')
if mode == 'write' and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
local lasts, holds = -1, 1
if mode then
  lasts = redis.call('PTTL', KEYS[1])
  holds = redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
else
  redis.call('HSET', KEYS[1], 'mode', 'read')
  redis.call('HSET', KEYS[1], ARGV[2], 1)
end
local hold = KEYS[2] .. ':' .. holds
redis.call('SET', hold, 1)
redis.call('PEXPIRE', hold, ARGV[1])
redis.call('PEXPIRE', KEYS[1], math.max(lasts, tonumber(ARGV[1])))
return nil
)";

// KEYS: lock, channel, the reader's timeouts, prefix of all readers' timeouts, latch.
// ARGV: message, reader, publishing command, latch in ms.
// nil: not the reader's; 1: free now; 0: somebody still holds it.
constexpr std::string_view give_up_read_lua = R"(
local answered = redis.call('GET', KEYS[5])
if answered then return tonumber(answered) end
local mode = redis.call('HGET', KEYS[1], 'mode')
if not mode then
  redis.call(ARGV[3], KEYS[2], ARGV[1])
  redis.call('SET', KEYS[5], 1, 'PX', ARGV[4])
  return nil
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return nil end
local holds = redis.call('HINCRBY', KEYS[1], ARGV[2], -1)
if holds == 0 then redis.call('HDEL', KEYS[1], ARGV[2]) end
redis.call('DEL', KEYS[3] .. ':' .. (holds + 1))
if redis.call('HLEN', KEYS[1]) > 1 then
  local longest = -3
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    for n = tonumber(redis.call('HGET', KEYS[1], field)) or 0, 1, -1 do
      local hold = KEYS[4] .. ':' .. field .. ':rwlock_timeout:' .. n
      longest = math.max(longest, redis.call('PTTL', hold))
    end
  end
  if longest > 0 then redis.call('PEXPIRE', KEYS[1], longest) end
  if longest > 0 or mode == 'write' then
    redis.call('SET', KEYS[5], 0, 'PX', ARGV[4])
    return 0
  end
end
redis.call('DEL', KEYS[1])
redis.call(ARGV[3], KEYS[2], ARGV[1])
redis.call('SET', KEYS[5], 1, 'PX', ARGV[4])
return 1
)";

// KEYS: locks, each with the prefix of its readers' timeouts. ARGV: lease in ms, then each lock's
// reader. 1 each: extended.
constexpr std::string_view extend_read_lua = R"(
local extended = {}
for i = 1, #KEYS, 2 do
  local reader = ARGV[(i + 3) / 2]
  local holds = redis.call('HGET', KEYS[i], reader)
  for n = tonumber(holds or 0), 1, -1 do
    redis.call('PEXPIRE', KEYS[i + 1] .. ':' .. reader .. ':rwlock_timeout:' .. n, ARGV[1])
  end
  if holds then redis.call('PEXPIRE', KEYS[i], ARGV[1]) end
  extended[#extended + 1] = holds and 1 or 0
end
return extended
)";

// KEYS: lock. ARGV: lease in ms, writer. nil: taken; else the rest of the holder's lease.
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

class rw_session : public redisson_session {
 public:
  rw_session(loop& l, run_data& run, const instance& who) : redisson_session(l, run, who) {
    for (std::uint32_t i = 0; i < who.clients; ++i) {
      writers_.push_back(owner({.client = i}) + ":write");
    }
  }

 protected:
  void append_channel_of(std::string& out, const rlock& what) const override {
    append_rw_channel(out, what.name);
  }

  const std::string& writer(const request& r) const { return writers_[r.client]; }

 private:
  std::vector<std::string> writers_;  // by request::client
};

class read_session final : public rw_session {
 public:
  read_session(loop& l, run_data& run, const instance& who) : rw_session(l, run, who) {
    for (const std::string& k : run.keys) prefixes_.push_back(reader_prefix(k));
  }

  // The keys of holds that were not given up outlast no lease, but they may outlast the run.
  task<void> close() override {
    for (const auto& [who, levels] : holds_) {
      leave_behind_holds({.key = who.first, .client = who.second}, levels);
    }
    co_await redisson_session::close();
  }

 protected:
  task<outcome<reply>> ask(const rlock& what, const request& r, duration) override {
    return run_script(take_script, what, r, 2, what.name, timeouts(r), milliseconds(r.lease),
                      what.holder, writer(r));
  }

  task<outcome<reply>> tell(const rlock& what, const request& r, std::string_view channel,
                            std::string_view latch) override {
    return run_script(give_up_script, what, r, 5, what.name, channel, timeouts(r), prefixes_[r.key],
                      latch, unlock_message, what.holder, publish_command(), latch_ms);
  }

  void append_extended(const rlock& what, std::vector<argument>& keys,
                       std::vector<argument>& arguments) const override {
    keys.insert(keys.end(), {what.name, prefixes_[what.number]});
    arguments.emplace_back(what.holder);
  }

  void will_ask(const request& r) override { ++holds_[{r.key, r.client}]; }

  void was_refused(const request& r) override { --holds_[{r.key, r.client}]; }

  void was_given_up(const request& r, bool was_held) override {
    const auto at = holds_.find({r.key, r.client});
    if (at == holds_.end()) return;
    if (!was_held) leave_behind_holds(r, at->second);
    if (!was_held || --at->second <= 0) holds_.erase(at);
  }

 private:
  std::string timeouts(const request& r) const { return reader_timeouts(key(r), owner(r)); }

  void leave_behind_holds(const request& r, int levels) {
    for (; levels > 0; --levels) leave_behind(fmt::format("{}:{}", timeouts(r), levels));
  }

  std::vector<std::string> prefixes_;  // by request::key
  // How many holds a client may have of a key, by (key, client).
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> holds_;
};

class write_session final : public rw_session {
 public:
  using rw_session::rw_session;

 protected:
  rlock the_lock(const request& r) const override { return {0, key(r), writer(r), r.key}; }

  task<outcome<reply>> tell(const rlock& what, const request& r, std::string_view channel,
                            std::string_view latch) override {
    return run_script(give_up_script, what, r, 3, what.name, channel, latch, read_unlock_message,
                      milliseconds(r.lease), what.holder, publish_command(), latch_ms);
  }
};

constexpr recipe read_recipe{.make_session = make_session<read_session>,
                             .scripts = {take_read_lua, give_up_read_lua, extend_read_lua},
                             .connections_beside = 1,
                             .watchdog_batch = redisson_batch};
constexpr recipe write_recipe{.make_session = make_session<write_session>,
                              .scripts = {take_write_lua, give_up_write_lua, redisson_extend_lua},
                              .connections_beside = 1,
                              .watchdog_batch = redisson_batch};

}  // namespace

lock_kind redisson_read() {
  return {
      .name = "redis/redisson_read",
      .summary = "readers of Redisson's RReadWriteLock; redis/redisson_write excludes them",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant |
             feature::shared,
      .promises = safety::best_effort,
      .topologies = one_deployment,
      .algorithm = "Redisson 4.7, RReadWriteLock.readLock()",
      .cost = {3, 2},
      .options = redisson_options(),
      .make = make_driver_of<read_recipe>,
      .holders = [](const option_values&) -> std::uint32_t { return 0; },
  };
}

lock_kind redisson_write() {
  return {
      .name = "redis/redisson_write",
      .summary = "writers of Redisson's RReadWriteLock; redis/redisson_read are its readers",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant,
      .promises = safety::best_effort,
      .topologies = one_deployment,
      .algorithm = "Redisson 3.52 to 4.7, RReadWriteLock.writeLock()",
      .cost = {3, 2},
      .options = redisson_options(),
      .make = make_driver_of<write_recipe>,
      .readers = "redis/redisson_read",
  };
}

}  // namespace lockmark::redis
