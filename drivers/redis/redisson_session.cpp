#include "drivers/redis/redisson_session.hpp"

#include <algorithm>

#include "drivers/redis/owner_lock.hpp"
#include "drivers/redis/replies.hpp"

namespace lockmark::redis {
namespace {

constexpr duration settle_limit = std::chrono::milliseconds{500};

std::optional<sync_replicas> sync_of(std::string_view value) {
  if (value == "check") return sync_replicas::check;
  if (value == "ignore") return sync_replicas::ignore;
  if (value == "none") return sync_replicas::none;
  return std::nullopt;
}

// Redisson goes by its configuration: with a single server it never waits for replicas.
sync_replicas sync_in(const run_data& run) {
  if (run.places[0].how == target::form::single) return sync_replicas::none;
  const auto wait = run.options.find("wait");
  return wait == run.options.end() ? sync_replicas::check : sync_of(wait->second).value();
}

bool is_on(const option_values& options, std::string_view name) {
  const auto chosen = options.find(name);
  return chosen != options.end() && chosen->second == "true";
}

}  // namespace

std::vector<lock_option> redisson_options() {
  return {
      watchdog_option(),
      {.name = "wait",
       .values = "check, ignore, none",
       .preset = "check",
       .help = "under Sentinel and in a Cluster: a lock is only taken once a replica has confirmed "
               "it (check); replicas are waited for, and what they say is ignored, as with "
               "checkLockSyncedSlaves=false (ignore); they are not waited for (none)",
       .accepts = [](std::string_view v) { return sync_of(v).has_value(); }},
      yes_or_no("wait_aof", "false",
                "whether replicas are waited for by WAITAOF, where the server has an "
                "append-only file and is 7.2 or newer, as Redisson 3.52 does; 4.7 waits by "
                "WAIT")};
}

redisson_session::redisson_session(loop& l, run_data& run, const instance& who)
    : lock_session(l, run, who),
      unconfirmed_(who.clients),
      sync_(sync_in(run)),
      to_disk_(is_on(run.options, "wait_aof")) {
  for (std::size_t place = 0; place < places(); ++place) {
    messages_.push_back(std::make_unique<subscription>(l, servers_of(place), sent_));
    latches_.emplace_back(who.clients);
  }
  std::random_device seed;
  random_.seed((std::uint64_t{seed()} << 32) ^ seed());
  if (!watched(run.options)) return;
  const auto renew = [this](connection& c, const std::vector<watchdog::hold>& holds, duration lease,
                            time_point deadline) {
    std::vector<rlock> some;
    for (const auto& h : holds) some.push_back(numbered(h.key, h.client));
    return extend_all(c, std::move(some), lease, deadline);
  };
  for (std::size_t place = 0; place < places(); ++place) {
    watchdogs_.push_back(std::make_unique<watchdog>(l, servers_of(place), sent_, who.clients,
                                                    batch_at(run.places[place], redisson_batch),
                                                    renew));
  }
}

redisson_session::~redisson_session() = default;

task<outcome<reply>> redisson_session::ask(const rlock& what, const request& r, duration) {
  return run_script(take_script, what, r, 1, what.name, milliseconds(r.lease), what.holder);
}

std::optional<redisson_session::answer> redisson_session::read(const reply& r) const {
  if (!r.is(reply::kind::nil) && !r.is(reply::kind::integer)) return std::nullopt;
  return answer{.taken = r.is(reply::kind::nil), .pttl_ms = r.number};
}

void redisson_session::append_extended(const rlock& what, std::vector<argument>& keys,
                                       std::vector<argument>& arguments) const {
  keys.emplace_back(what.name);
  arguments.emplace_back(what.holder);
}

task<outcome<reply>> redisson_session::tell(const rlock& what, const request& r,
                                            std::string_view channel, std::string_view latch) {
  return run_script(give_up_script, what, r, 3, what.name, channel, latch, unlock_message,
                    milliseconds(r.lease), what.holder, publish_command(), latch_ms);
}

void redisson_session::append_channel_of(std::string& out, const rlock& what) const {
  append_channel(out, what.name);
}

task<outcome<grant>> redisson_session::take(rlock what, request r) {
  const duration wait = std::max<duration>(r.deadline - loop_.now(), std::chrono::milliseconds{1});
  std::optional<subscription::place> place;
  outcome<grant> ending = refusal::deadline;
  while (true) {
    grant g{.valid_until = end_of(r.lease)};
    will_ask(r);
    const auto said = co_await ask(what, r, wait);
    if (!said.done()) {
      if (said.refused()) was_refused(r);
      remember_latch(what, r);
      ending = said.without_value<grant>();
      break;
    }
    const auto understood = read(said.value());
    if (!understood) throw_unexpected(what, said.value());
    const answer a = *understood;
    if (a.taken) watch(what, r, g.valid_until);
    if (a.taken && unconfirmed_[r.client]) {
      const auto undone = co_await give_up(what, taking_back(r));
      ending = ending_of_undone(undone);
      break;
    }
    if (a.taken) {
      g.token = a.token;
      co_return g;
    }
    was_refused(r);
    if (!waits()) {
      ending = refusal::busy;
      break;
    }
    if (!in_time(r)) break;
    const bool is_first = !place;
    if (is_first) {
      scratch_.clear();
      append_channel_of(scratch_, what);
      place.emplace(*messages_[what.place], scratch_);
    }
    if (!place->confirmed()) {
      const bool confirmed = co_await place->confirm(r.deadline);
      if (confirmed) continue;
      if (in_time(r)) ending = refusal::unavailable;
      break;
    }
    // Redisson asks again before its first wait, even if the instance had subscribed already.
    if (is_first) continue;
    const bool woken = co_await place->wait(until_worth_asking(a.pttl_ms, r));
    if (in_time(r)) continue;
    if (woken) place->hand_on();
    break;
  }
  gave_up_waiting(what, r, wait);
  co_return ending;
}

task<outcome<grant>> redisson_session::extend(rlock what, request r) {
  const grant g{.valid_until = end_of(r.lease)};
  const std::vector<rlock> one(1, what);
  const auto said = co_await extend_all(client(r, what.place), one, r.lease, r);
  if (!said.done()) {
    remember_latch(what, r);
    co_return said.without_value<grant>();
  }
  const auto& extended = said.value().parts;
  if (extended.empty()) throw_unexpected(what, said.value());
  if (extended[0].number != 1) co_return refusal::not_owner;
  co_return g;
}

// Leaves the lock's channel in scratch_.
void redisson_session::begin_giving_up(const rlock& what, std::string& latch) {
  append_latch(latch, what.name, new_request_id());
  scratch_.clear();
  append_channel_of(scratch_, what);
}

// Like Redisson, does not wait for the answer to DEL.
task<outcome<nothing>> redisson_session::give_up(rlock what, request r) {
  connection& c = client(r, what.place);
  std::string before = std::exchange(latches_[what.place][r.client], {});
  std::string& latch = latches_[what.place][r.client];
  begin_giving_up(what, latch);
  const auto said = co_await tell(what, r, scratch_, latch);
  // Redisson stops renewing regardless of the answer.
  if (!watchdogs_.empty()) watchdogs_[what.place]->remove({what.number, r.client});
  if (!said.done()) {
    if (!before.empty()) left_.emplace_back(what.place, std::move(before));
    remember_latch(what, r);
    co_return said.without_value<nothing>();
  }
  c.post("DEL", latch);
  if (!c.owed()) remember_latch(what, r);
  const bool held = was_held(said.value());
  was_given_up(r, held);
  if (!held) co_return refusal::not_owner;
  co_return nothing{};
}

void redisson_session::abandon(const rlock& what, const request& r) {
  if (!watchdogs_.empty()) watchdogs_[what.place]->remove({what.number, r.client});
  std::string latch;
  begin_giving_up(what, latch);
  client(r, what.place)
      .post("EVAL", run_.scripts[give_up_script].text, 3, what.name, scratch_, latch,
            unlock_message, milliseconds(r.lease), what.holder, publish_command(), latch_ms);
  left_.emplace_back(what.place, std::move(latch));
}

task<void> redisson_session::close() {
  for (const auto& w : watchdogs_) co_await w->close();
  for (const auto& m : messages_) co_await m->close();
  const time_point limit = loop_.now() + settle_limit;
  for (std::size_t place = 0; place < places(); ++place) {
    for (std::uint32_t i = 0; i < latches_[place].size(); ++i) {
      const bool settled = co_await client({.client = i}, place).settle(limit);
      if (!settled) left_.emplace_back(place, latches_[place][i]);
    }
  }
  for (auto& [place, latch] : left_) {
    const auto said = co_await client({}, place).command(limit, "DEL", latch);
    if (!said.done()) leave_behind(std::move(latch));
  }
  co_await lock_session::close();
  for (const auto& w : watchdogs_) w->throw_failure();
}

void redisson_session::watch(const rlock& what, const request& r, time_point ends) {
  if (watchdogs_.empty()) return;
  watchdogs_[what.place]->add({what.number, r.client}, r.lease, ends);
}

// Renewals wait for replicas, too, and ignore what they say.
task<outcome<reply>> redisson_session::extend_all(connection& c, std::vector<rlock> some,
                                                  duration lease, time_limit until) {
  std::vector<argument> keys;
  std::vector<argument> arguments{milliseconds(lease)};
  for (const rlock& one : some) append_extended(one, keys, arguments);
  const auto count = static_cast<int>(keys.size());
  keys.insert(keys.end(), arguments.begin(), arguments.end());
  const script& text = run_.scripts[extend_script];
  if (sync_ == sync_replicas::none) co_return co_await c.evaluate_all(until, text, count, keys);
  const auto said = co_await c.evaluate_all_synced(until, to_disk_, text, count, keys);
  if (!said.done()) co_return said.without_value<reply>();
  co_return said.value().said;
}

task<outcome<reply>> redisson_session::confirmed(std::uint32_t client,
                                                 task<outcome<replicated_reply>> asked) {
  const auto said = co_await std::move(asked);
  if (!said.done()) co_return said.without_value<reply>();
  const replicated_reply& r = said.value();
  unconfirmed_[client] = sync_ == sync_replicas::check && r.replicas > 0 && r.confirmed == 0;
  co_return r.said;
}

time_point redisson_session::until_worth_asking(std::int64_t pttl_ms, const request& r) const {
  // A server may answer any number: compared as milliseconds, it cannot overflow.
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(r.deadline - loop_.now());
  if (pttl_ms < 0 || pttl_ms >= left.count()) return r.deadline;
  return loop_.now() + std::chrono::milliseconds{pttl_ms};
}

void redisson_session::throw_unexpected(const rlock& what, const reply& said) const {
  throw no_server(answered_wrongly(run_.places[what.place].name(), "a script of the lock", said));
}

// The DEL of the client's last latch may have been lost with the request that just failed.
void redisson_session::remember_latch(const rlock& what, const request& r) {
  std::string& last = latches_[what.place][r.client];
  if (!last.empty()) left_.emplace_back(what.place, std::exchange(last, {}));
}

// 32 hexadecimal digits, until the next call.
std::string_view redisson_session::new_request_id() {
  constexpr char digits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < request_id_.size();) {
    for (std::uint64_t bits = random_(), n = 0; n < 16; ++n, bits >>= 4) {
      request_id_[i++] = digits[bits & 15];
    }
  }
  return {request_id_.data(), request_id_.size()};
}

}  // namespace lockmark::redis
