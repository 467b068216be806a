// Which lock is fast, which one succeeds, and what Redis can do.
#include <fmt/format.h>

#include "harness/claims/verdicts.hpp"

namespace lockmark::claims {
namespace {

experiment on(std::string label, std::string job, std::string lock, std::string topology,
              std::vector<std::string> set = {}) {
  return {std::move(label), std::move(job), std::move(topology),
          std::move(lock),  std::move(set), ""};
}

std::vector<experiment> three_backends(const std::string& job) {
  return {on("redis/lua", job, "redis/lua", "redis"),
          on("zookeeper/sequential", job, "zookeeper/sequential", "zookeeper"),
          on("mysql/for_update", job, "mysql/for_update", "mysql")};
}

std::vector<experiment> three_on_redis(const std::string& job) {
  return {on("redis/lua", job, "redis/lua", "redis"),
          on("redis/redisson", job, "redis/redisson", "redis"),
          on("redis/setnx", job, "redis/setnx", "redis")};
}

judgement backends_by_speed(const evidence& e) {
  return falls(e, {"redis/lua", "zookeeper/sequential", "mysql/for_update"}, "/tps",
               unit::per_second);
}

judgement backends_by_success(const evidence& e) {
  return falls(e, {"mysql/for_update", "zookeeper/sequential", "redis/lua"}, "/success_rate",
               unit::share);
}

judgement redis_by_speed(const evidence& e) {
  return falls(e, {"redis/lua", "redis/redisson", "redis/setnx"}, "/tps", unit::per_second);
}

// "100,000 operations a second": what all clients sent, by the grants and what each of them cost.
judgement redis_rate(const evidence& e) {
  const auto tps = e.of("redis/set_nx_px", "/tps");
  const auto each = e.of("redis/set_nx_px", "/cost_per_acquire/client_commands_per_grant");
  const auto p99 = e.response("redis/set_nx_px", 0.99);
  if (!tps || !each || !p99) return missing("redis/set_nx_px");
  const double commands = tps->median() * each->median();
  judgement j;
  j.because = fmt::format("{:.0f} commands/s, p99 of an acquire {}", commands,
                          show(*p99, unit::nanoseconds));
  const bool fast = commands >= 100'000;
  const bool prompt = p99->most() < 1e6;
  j.is = fast && prompt ? answer::confirmed : fast || prompt ? answer::depends : answer::refuted;
  if (!fast) {
    j.because += "; what was sent is a bound where the harness was the limit (the runs say so)";
  }
  return j;
}

judgement success_falls_with_wait(const evidence& e) {
  return falls(e, {"wait 1s", "wait 100ms", "wait 25ms"}, "/success_rate", unit::share);
}

judgement sharding_helps(const evidence& e) {
  return falls(e, {"five deployments", "one deployment"}, "/tps", unit::per_second);
}

}  // namespace

std::vector<claim> claims_on_speed() {
  return {
      {"1a", "Performance: redis > zookeeper > mysql, where nobody competes for a key",
       "Grants per second of 16 clients on a key each fall from redis/lua to zookeeper/sequential "
       "to mysql/for_update.",
       three_backends("uncontended"), backends_by_speed},
      {"1b", "Performance: redis > zookeeper > mysql, where all compete for one key",
       "The same on one key for all.", three_backends("contended"), backends_by_speed},
      {"1c", "Success rate: mysql pessimistic > zookeeper > redis",
       "16 clients that hold one key for 20 ms and wait at most 100 ms: the share of attempts that "
       "succeed falls from mysql/for_update to zookeeper/sequential to redis/lua.",
       three_backends("short_wait"), backends_by_success},
      {"1d", "Within Redis: lua fastest, redisson in the middle, setnx last; without contention",
       "Grants per second on a key each fall from redis/lua to redis/redisson to redis/setnx.",
       three_on_redis("uncontended"), redis_by_speed},
      {"1e", "Within Redis: lua fastest, redisson in the middle, setnx last; on one key",
       "The same on one key for all.", three_on_redis("contended"), redis_by_speed},
      {"11",
       "Redisson's success rate falls under contention with a short wait time",
       "16 clients hold one key for 20 ms: the share that succeeds falls as the wait time goes "
       "from "
       "1 s to 100 ms to 25 ms.",
       {on("wait 1s", "short_wait", "redis/redisson", "redis", {"wait=1s"}),
        on("wait 100ms", "short_wait", "redis/redisson", "redis", {"wait=100ms"}),
        on("wait 25ms", "short_wait", "redis/redisson", "redis", {"wait=25ms"})},
       success_falls_with_wait},
      {"12",
       "Sharding a lock over several deployments by key raises total throughput",
       "16 clients on a key each: redis/sharded over five masters grants more than redis/set_nx_px "
       "on one.",
       {on("five deployments", "uncontended", "redis/sharded", "redis-independent"),
        on("one deployment", "uncontended", "redis/set_nx_px", "redis")},
       sharding_helps},
      {"13",
       "Redis does about 100,000 operations a second and answers within a millisecond",
       "redis/set_nx_px on a key each: at least 100,000 commands a second, and the p99 of an "
       "acquire below 1 ms.",
       {on("redis/set_nx_px", "uncontended", "redis/set_nx_px", "redis")},
       redis_rate},
  };
}

}  // namespace lockmark::claims
