#include "drivers/conformance/stage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace lockmark::conformance {
namespace {

// [a-z0-9]+, unique to each stage of each process on this host.
std::string unique_run() {
  return fmt::format("conf{}x{}", getpid(), to_ns(real_clock{}.now()) / 1000);
}

// Presets, overridden by those of `given` that the lock knows.
option_values options_of(const lock_kind& kind, const option_values& given) {
  option_values all;
  for (const lock_option& o : kind.options) {
    const auto chosen = given.find(o.name);
    all.emplace(o.name, chosen == given.end() ? std::string{o.preset} : chosen->second);
  }
  return all;
}

}  // namespace

std::uint32_t most_holders(const subject& s) {
  if (s.kind.holders == nullptr) return 1;
  return s.kind.holders(options_of(s.kind, s.options));
}

task<void> together(loop& l, task<void> one, task<void> other) {
  scope both{l};
  both.spawn(std::move(one));
  both.spawn(std::move(other));
  co_await both.join();
}

task<outcome<grant>> party::acquire(duration within, std::uint32_t key, duration grace) const {
  return in->acquire({key, client, lease, on->in(within), grace});
}

task<outcome<grant>> party::renew(duration within, std::uint32_t key) const {
  return in->renew({key, client, lease, on->in(within)});
}

task<outcome<nothing>> party::release(duration within, std::uint32_t key) const {
  return in->release({key, client, lease, on->in(within)});
}

party party::with_short_lease() const {
  return {on, in, kind, client, on->about().lease};
}

task<grant> party::take(duration within, std::uint32_t key) const {
  const time_point end = on->in(within);
  while (true) {
    const auto got = co_await acquire(end - on->l().now(), key);
    if (got.done()) co_return got.value();
    // A busy machine may lose a session, which then needs a moment to be there again.
    const bool may_come = got.refused(refusal::busy) || got.refused(refusal::unavailable);
    if (!may_come || on->l().now() >= end) {
      throw broken(fmt::format("session {} client {} should have got key {}: {}", fmt::ptr(in),
                               client, key, say(got)));
    }
    co_await on->l().sleep_for(5ms);
  }
}

task<void> party::give_up(std::uint32_t key) const {
  const auto gone = co_await release(patience, key);
  if (!gone.done()) throw broken(fmt::format("a release of key {} ended as: {}", key, say(gone)));
}

task<void> party::is_kept_out(std::uint32_t key, duration within) const {
  const bool waits = has(feature::server_wait);
  const time_point patient_until = on->in(patience);
  time_point start = on->l().now();
  // With grace: without it a deadline that passes while a reply is on its way would cause doubt.
  auto got = co_await acquire(within, key, on->about().tolerance);
  // A lost session may need more than one attempt to come back.
  while (got.refused(refusal::unavailable) && on->l().now() < patient_until) {
    co_await on->l().sleep_for(5ms);
    start = on->l().now();
    got = co_await acquire(within, key, on->about().tolerance);
  }
  const duration took = on->l().now() - start;
  if (!got.refused(waits ? refusal::deadline : refusal::busy)) {
    throw broken(
        fmt::format("client {} should have been kept out of key {}: {}", client, key, say(got)));
  }
  EXPECT_LE(took, within + on->about().tolerance) << "refused too late";
  if (waits) {
    EXPECT_GE(took, within) << "gave up before its deadline";
  }
}

stage::stage(const subject& s) : about_(s) {
  if (about_.in_process) {
    loop_.emplace(clock_.emplace<simulated_clock>());
  } else {
    loop_.emplace(clock_.emplace<real_clock>());
  }
  names_.run = unique_run();
  for (std::uint32_t k = 0; k < keys_per_run; ++k) names_.keys.push_back(fmt::format("k{}", k));
  direct_ = driver_for(about_.target);
  if (about_.has_writer()) writers_ = make(about_.writer, about_.target);
  for (const auto& [name, value] : about_.options) {
    if (options_of(about_.kind, {}).contains(name)) continue;
    throw std::logic_error(fmt::format("{} has no option {}", about_.kind.name, name));
  }
}

void stage::play(task<void> (*the_case)(stage&)) {
  run_to_end(*loop_, play_whole(the_case));
}

task<void> stage::play_whole(task<void> (*the_case)(stage&)) {
  co_await prepare();
  std::exception_ptr failure;
  try {
    co_await the_case(*this);
  } catch (const broken& e) {
    ADD_FAILURE() << e.what();
  } catch (...) {
    failure = std::current_exception();  // a session left open would keep the loop going
  }
  if (network_) network_->set(proxy_mode::pass);
  co_await close_all();
  if (failure) std::rethrow_exception(failure);
  co_await wipe_clean();
}

task<void> stage::prepare() {
  co_await direct_->prepare(*loop_, in(patience));
  if (writers_) co_await writers_->prepare(*loop_, in(patience));
}

driver& stage::proxied() {
  if (!proxied_) proxied_ = driver_for(network().url().to_string());
  return *proxied_;
}

shaky_network& stage::network() {
  if (!network_) {
    network_ = std::make_unique<shaky_network>(about_.target, about_.hidden_servers);
  }
  return *network_;
}

std::unique_ptr<driver> stage::driver_for(const std::string& url) const {
  return make(about_.kind, url);
}

std::unique_ptr<driver> stage::make(const lock_kind& kind, const std::string& url) const {
  return kind.make({url, names_, options_of(kind, about_.options)});
}

task<party> stage::join() {
  return join(*direct_, about_.kind);
}

task<party> stage::join_through_proxy() {
  return join(proxied(), about_.kind);
}

task<party> stage::join_rival() {
  if (about_.has_writer()) co_return co_await join(*writers_, about_.writer);
  if (!std::exchange(crowded_, true)) {
    co_await crowd(0);
    co_await crowd(1);
  }
  co_return co_await join();
}

task<void> stage::crowd(std::uint32_t key) {
  std::optional<party> last;
  for (std::uint32_t taken = 0; taken + 1 < holders(); ++taken) {
    const std::uint32_t client = taken % clients_per_session;
    if (client == 0) last = co_await join();
    co_await last->other_client(client).take(patience, key);
  }
}

task<party> stage::join(driver& d, const lock_kind& kind) {
  // Only sessions through the proxies lose their connection, and cases wait for their end. Others
  // outlive the stalls of a busy machine.
  const bool can_be_cut = &d == proxied_.get();
  instance who{fmt::format("{}i{}", names_.run, joined_), joined_, clients_per_session,
               (can_be_cut ? 1 : 5) * about_.session_timeout};
  ++joined_;
  auto opened = co_await d.open(*loop_, std::move(who), in(patience));
  sessions_.push_back(std::move(opened));
  co_return party{this, sessions_.back().get(), &kind, 0, long_lease};
}

task<void> stage::leave(session* s) {
  co_await s->close();
  for (auto& mine : sessions_) {
    if (mine.get() == s) mine.reset();
  }
}

task<void> stage::close_all() {
  for (auto& s : sessions_) {
    if (s) co_await s->close();
    s.reset();
  }
}

task<void> stage::wipe_clean() {
  co_await direct_->wipe(*loop_, in(patience));
  if (writers_) co_await writers_->wipe(*loop_, in(patience));
  if (!about_.leftovers) co_return;
  const auto left = about_.leftovers(about_.target, names_);
  EXPECT_TRUE(left.empty()) << "left on the server: " << fmt::format("{}", fmt::join(left, ", "));
}

duration stage::until_freed() const {
  duration longest = about_.tolerance;
  if (has(feature::lease)) longest += about_.lease;
  if (has(feature::session_bound)) {
    longest += about_.session_timeout + about_.session_grace;
  }
  return longest;
}

}  // namespace lockmark::conformance
