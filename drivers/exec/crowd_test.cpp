// Clients of both sides of a duel on one key. The cases are added by interop_test.cpp.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "drivers/exec/duel.hpp"
#include "harness/async/scope.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::exec {
namespace {

using namespace std::chrono_literals;

struct crowd_state {
  loop& l;
  const crowd& how;
  time_point end;
  int inside = 0;
  crowd_result result{};
};

struct member {
  session* in;
  std::uint32_t client;
  std::uint64_t* grants;
};

task<void> join_crowd(crowd_state& all, member who) {
  while (all.l.now() < all.end) {
    const request want{.key = 0,
                       .client = who.client,
                       .lease = long_lease,
                       .deadline = std::min(all.end, all.l.now() + 5s),
                       .grace = 3s};
    const auto got = co_await who.in->acquire(want);
    if (got.in_doubt()) ++all.result.doubts;
    if (!got.done()) {
      co_await all.l.sleep_for(5ms);
      continue;
    }
    if (all.inside++ > 0) {
      ++all.result.overlaps;
      if (all.how.until_overlap) all.end = all.l.now();
    }
    ++*who.grants;
    co_await all.l.sleep_for(all.how.hold);
    --all.inside;
    const request done{
        .key = 0, .client = who.client, .lease = long_lease, .deadline = all.l.now() + patience};
    const auto gone = co_await who.in->release(done);
    if (gone.refused(refusal::not_owner)) ++all.result.lost_holds;
    if (gone.in_doubt()) ++all.result.doubts;
  }
}

struct crowd_side {
  const side& who;
  std::uint64_t& grants;
  std::unique_ptr<driver> behind{};
  std::vector<std::unique_ptr<session>> sessions{};
};

task<void> gather(loop& l, crowd_side& s, const crowd& c, names keys, std::string name) {
  keys.run += s.who.run_suffix;
  s.behind = s.who.kind.make({s.who.target, keys, options_of(s.who)});
  co_await s.behind->prepare(l, l.now() + patience);
  for (std::uint32_t n = 0; n < c.sessions; ++n) {
    instance who{fmt::format("{}{}{}", keys.run, name, n), n, c.clients, 10s};
    auto opened = co_await s.behind->open(l, std::move(who), l.now() + patience);
    s.sessions.push_back(std::move(opened));
  }
}

task<void> disperse(loop& l, crowd_side& s) {
  co_await close_all(s.sessions);
  if (s.behind) co_await s.behind->wipe(l, l.now() + patience);
}

task<void> mix_in(loop& l, const duel& d, const crowd& c, crowd_result& result) {
  const names keys{name_of_run(), {"k"}};
  crowd_state all{l, c, {}};
  crowd_side real{d.real, all.result.real_grants};
  crowd_side ours{d.ours, all.result.our_grants};
  std::exception_ptr failure;
  try {
    co_await gather(l, ours, c, keys, "ours");
    co_await gather(l, real, c, keys, "real");
    all.end = l.now() + c.time;
    scope everybody{l};
    for (crowd_side* s : {&real, &ours}) {
      for (const auto& open : s->sessions) {
        for (std::uint32_t n = 0; n < c.clients; ++n) {
          everybody.spawn(join_crowd(all, {open.get(), n, &s->grants}));
        }
      }
    }
    co_await everybody.join();
  } catch (...) {
    failure = std::current_exception();
  }
  const std::array both{&real, &ours};
  for (crowd_side* const s : both) {
    try {
      co_await disperse(l, *s);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  result = all.result;
}

}  // namespace

crowd_result mix(const duel& d, const crowd& c) {
  const real_clock clock;
  loop l{clock};
  crowd_result result;
  run_to_end(l, mix_in(l, d, c, result));
  return result;
}

task<void> close_all(std::vector<std::unique_ptr<session>>& sessions) {
  std::exception_ptr failure;
  for (const auto& open : sessions) {
    try {
      co_await open->close();
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  sessions.clear();
  if (failure) std::rethrow_exception(failure);
}

std::string name_of_run() {
  static std::atomic<int> runs = 0;
  return fmt::format("duel{}x{}", getpid(), ++runs);
}

option_values options_of(const side& s) {
  option_values all;
  for (const lock_option& o : s.kind.options) all.emplace(std::string{o.name}, o.preset);
  for (const auto& [name, value] : s.options) all[name] = value;
  return all;
}

}  // namespace lockmark::exec
