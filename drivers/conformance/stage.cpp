#include "drivers/conformance/stage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace lockmark::conformance {
namespace {

// [a-z0-9]+, and another one for every stage of every process on this host.
std::string unique_run() {
  return fmt::format("conf{}x{}", getpid(), to_ns(real_clock{}.now()) / 1000);
}

}  // namespace

task<void> together(loop& l, task<void> one, task<void> other) {
  scope both{l};
  both.spawn(std::move(one));
  both.spawn(std::move(other));
  co_await both.join();
}

task<outcome<grant>> party::acquire(duration within, std::uint32_t key) const {
  return in->acquire({key, client, lease, on->in(within)});
}

task<outcome<grant>> party::renew(duration within, std::uint32_t key) const {
  return in->renew({key, client, lease, on->in(within)});
}

task<outcome<nothing>> party::release(duration within, std::uint32_t key) const {
  return in->release({key, client, lease, on->in(within)});
}

party party::with_short_lease() const {
  return {on, in, client, on->about().lease};
}

task<grant> party::take(duration within, std::uint32_t key) const {
  const time_point end = on->in(within);
  while (true) {
    const auto got = co_await acquire(end - on->l().now(), key);
    if (got.done()) co_return got.value();
    if (!got.refused(refusal::busy) || on->l().now() >= end) {
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
  const bool waits = on->has(feature::server_wait);
  const time_point start = on->l().now();
  const auto got = co_await acquire(within, key);
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
}

void stage::play(task<void> (*the_case)(stage&)) {
  run_to_end(*loop_, play_whole(the_case));
}

task<void> stage::play_whole(task<void> (*the_case)(stage&)) {
  co_await direct_->prepare(*loop_, in(patience));
  try {
    co_await the_case(*this);
  } catch (const broken& e) {
    ADD_FAILURE() << e.what();
  }
  if (network_) network_->set(proxy_mode::pass);
  co_await close_all();
  co_await wipe_clean();
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
  driver_setup setup{url, names_, {}};
  for (const lock_option& o : about_.kind.options) {
    setup.options.emplace(std::string{o.name}, std::string{o.preset});
  }
  for (const auto& [name, value] : about_.options) setup.options[name] = value;
  return about_.kind.make(setup);
}

task<party> stage::join() {
  return join(*direct_);
}

task<party> stage::join_through_proxy() {
  return join(proxied());
}

task<party> stage::join(driver& d) {
  instance who{fmt::format("{}i{}", names_.run, joined_), joined_, clients_per_session,
               about_.session_timeout};
  ++joined_;
  auto opened = co_await d.open(*loop_, std::move(who), in(patience));
  sessions_.push_back(std::move(opened));
  co_return party{this, sessions_.back().get(), 0, long_lease};
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
