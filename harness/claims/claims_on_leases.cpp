// Leases, watchdogs, dead holders and paused ones.
#include <fmt/format.h>

#include "harness/claims/verdicts.hpp"

namespace lockmark::claims {
namespace {

judgement blocked_for_ever(const evidence& e) {
  if (e.all().empty()) return missing("no experiment");
  judgement j{answer::confirmed, ""};
  for (const auto& [label, runs] : e.all()) {
    j.because +=
        fmt::format("{}{}: no grant any more in {} of {} runs", j.because.empty() ? "" : "; ",
                    label, e.never_recovered(label), runs.size());
    if (e.never_recovered(label) < runs.size()) j.is = answer::refuted;
  }
  return j;
}

judgement swept(const evidence& e) {
  if (e.runs("without sweeper") == 0) return missing("without sweeper");
  if (e.runs("with sweeper") == 0) return missing("with sweeper");
  const bool off = e.never_recovered("without sweeper") == e.runs("without sweeper");
  const bool on = e.never_recovered("with sweeper") == 0;
  return {off && on ? answer::confirmed : answer::refuted,
          fmt::format("no grant any more in {} of {} runs without, {} of {} with the sweeper",
                      e.never_recovered("without sweeper"), e.runs("without sweeper"),
                      e.never_recovered("with sweeper"), e.runs("with sweeper"))};
}

judgement second_holder(const evidence& e) {
  return breaks(e, {"redis/lua", "redis/redisson"}, {});
}

// The paused holder's own overlap with its successor happens with every release; what only a wrong
// release does is to let in a third, while the second still works.
judgement third_holder(const evidence& e) {
  const auto plain = e.of("release=del", "/faults/0/violations_among_others");
  const auto compare = e.of("release=compare_then_del", "/faults/0/violations_among_others");
  const auto script = e.of("release=script", "/faults/0/violations_among_others");
  if (!plain) return missing("release=del");
  if (!compare) return missing("release=compare_then_del");
  if (!script) return missing("release=script");
  const bool as_said = plain->least() > 0 && compare->least() > 0 && script->most() == 0;
  return {as_said ? answer::confirmed : answer::refuted,
          fmt::format("overlaps without the hold that was paused: del {}, compare_then_del "
                      "paused between the two {}, script {}",
                      show(*plain, unit::plain), show(*compare, unit::plain),
                      show(*script, unit::plain))};
}

judgement watchdog_protects(const evidence& e) {
  return breaks(e, {"without watchdog"}, {"with watchdog"});
}

judgement watchdog_costs(const evidence& e) {
  return falls(e, {"without watchdog", "with watchdog"}, "/tps", unit::per_second);
}

judgement pause_breaks_and_fence_refuses(const evidence& e) {
  const judgement held = breaks(e, {"redis/redisson_fenced", "redis/lua"}, {});
  const auto stale = e.of("redis/redisson_fenced", "/safety/guard/stale_accesses");
  if (!stale) return missing("redis/redisson_fenced");
  const judgement fence{stale->least() > 0 ? answer::confirmed : answer::refuted,
                        fmt::format("late writes that the fence of redis/redisson_fenced refuses: "
                                    "{}",
                                    show(*stale, unit::plain))};
  return both(held, fence);
}

}  // namespace

std::vector<claim> claims_on_leases() {
  return {
      {"2a",
       "A holder that dies without an expiry blocks everyone for ever",
       "After the holder's process is killed, no client is granted the key any more: redis/setnx, "
       "redis/setnx_expire killed between its two commands, zookeeper/persistent.",
       {hurt("redis/setnx", "holder_killed", "redis/setnx", "redis"),
        hurt("redis/setnx_expire half-way", "killed_half_way", "redis/setnx_expire", "redis"),
        hurt("zookeeper/persistent", "holder_killed", "zookeeper/persistent", "zookeeper")},
       blocked_for_ever},
      {"2b",
       "unique_key is blocked by a dead holder until the sweeper runs",
       "Without the sweeper no grant follows; with one of 3 s the next grant comes.",
       {hurt("without sweeper", "holder_killed", "mysql/unique_key", "mysql",
             {"options.sweep=off"}),
        hurt("with sweeper", "holder_killed", "mysql/unique_key", "mysql", {"options.sweep=3s"})},
       swept},
      {"3a",
       "A lease shorter than the work lets a second holder in",
       "3 s of work on a lease of 1 s: two hold it, in every run.",
       {hurt("redis/lua", "work_outlives_lease", "redis/lua", "redis"),
        hurt("redis/redisson", "work_outlives_lease", "redis/redisson", "redis")},
       second_holder},
      {"3b",
       "A plain DEL frees another's lock and lets a third in; compare-then-delete can; the "
       "script cannot",
       "A holder that comes back late and releases: a third holder beside the second with DEL, "
       "with "
       "compare-then-delete if it was stopped between the two, never with the script.",
       {hurt("release=del", "stale_release", "redis/set_nx_px", "redis", {"options.release=del"}),
        hurt("release=compare_then_del", "stale_release_between", "redis/set_nx_px", "redis",
             {"options.release=compare_then_del"}),
        hurt("release=script", "stale_release", "redis/set_nx_px", "redis",
             {"options.release=script"})},
       third_holder},
      {"4a",
       "A watchdog keeps a long hold safe",
       "3 s of work on a lease of 1 s: two hold it without renewal, never with it.",
       {hurt("without watchdog", "work_outlives_lease", "redis/redisson", "redis"),
        hurt("with watchdog", "work_outlives_lease", "redis/redisson", "redis",
             {"options.watchdog=true"})},
       watchdog_protects},
      {"4b",
       "A watchdog lowers concurrency",
       "Grants per second of 16 clients on one key, holds of 5 ms, fall when the lock renews "
       "itself.",
       {{"without watchdog", "contended", "redis", "redis/redisson", {"hold=5ms"}, ""},
        {"with watchdog",
         "contended",
         "redis",
         "redis/redisson",
         {"hold=5ms", "options.watchdog=true"},
         ""}},
       watchdog_costs},
      {"6",
       "A paused client outlives its lease and two hold; a fencing token lets the resource "
       "refuse the stale one",
       "A holder stopped for 8 s on a lease of 2 s: two hold it in every run, and the register "
       "sees "
       "a write with an older token than it has seen.",
       {hurt("redis/lua", "holder_paused", "redis/lua", "redis"),
        hurt("redis/redisson_fenced", "holder_paused", "redis/redisson_fenced", "redis")},
       pause_breaks_and_fence_refuses},
  };
}

}  // namespace lockmark::claims
