#include "harness/run/worker.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "harness/async/lanes.hpp"
#include "harness/run/driver_calls.hpp"
#include "harness/time/metronome.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

// How often a worker hands over its events and tests its own punctuality.
constexpr duration publish_every = 20ms;
constexpr duration heartbeat_every = 5ms;
// An overloaded dispatcher lets its clients run after this many arrivals.
constexpr std::uint64_t arrivals_per_turn = 64;

}  // namespace

struct worker::client_slot {
  client_slot(loop& l, const stage& s, session& lock, std::uint32_t number, std::uint32_t within)
      : who(s, lock, number, within), called(l) {}
  actor who;
  signal called;  // open loops: `next` is due, or the run is over
  std::optional<due> next;
};

worker::worker(loop& l, const worker_setup& c, share mine, outlets out)
    : loop_(l),
      setup_(c),
      mine_(mine),
      gauges_(out.gauges != nullptr ? *out.gauges : own_gauges_),
      journal_(out.events),
      stage_{l,       c.job,     c.keys,   c.what,          c.lock_has, c.window,
             gauges_, recorder_, journal_, c.notes_answers, c.guard},
      go_(l),
      close_(l) {}

worker::~worker() = default;

void worker::go(time_point start) {
  loop_.post([this, start] {
    start_ = start;
    gone_ = true;
    go_.set();
  });
}

void worker::stop() {
  loop_.post([this] { stop_clients(); });
}

void worker::stop_clients() {
  stopping_ = true;
  for (const auto& s : slots_) {
    if (!s->who.in_attempt()) s->who.wake();
    if (!s->next) s->called.set();
  }
  go_.set();
}

void worker::close() {
  loop_.post([this] {
    stop_clients();
    close_.set();
  });
}

void worker::hurry() {
  loop_.post([this] { hurry_clients(); });
}

void worker::hurry_clients() {
  for (const due& waits : backlog_) {
    if (setup_.window.contains(to_ns(waits.intended))) recorder_.count(counter::in_flight_at_end);
  }
  backlog_.clear();
  for (const auto& s : slots_) s->who.hurry();
}

// An error of one client will hit the others too, and is no outcome of the lock: the load ends for
// all.
void worker::fail(std::exception_ptr why) {
  if (failed_.load(std::memory_order_relaxed)) return;
  failure_ = std::move(why);
  failed_.store(true, std::memory_order_release);
  stop_clients();
  hurry_clients();
}

task<void> worker::live() {
  co_await open_sessions();
  if (!failure_) {
    ready_.store(true, std::memory_order_release);
    co_await go_.wait();
    if (gone_) co_await carry_load();
    quiet_.store(true, std::memory_order_release);
    co_await close_.wait();
  }
  co_await close_sessions();
  if (failure_) std::rethrow_exception(failure_);
}

task<void> worker::carry_load() {
  sent_before_ = sent_until_now_ = traffic_so_far();
  scope clients{loop_};
  scope background{loop_};
  background.spawn(heartbeat());
  background.spawn(tick());
  for (const auto& s : slots_) clients.spawn(keep_busy(*s));
  if (setup_.job.arrives_by_rate()) clients.spawn(call_clients());
  co_await clients.join();
  over_ = true;
  co_await background.join();
  sent_ = traffic_so_far();
  sent_ -= sent_before_;
}

// This worker's share of the concurrent logins and closes.
std::size_t worker::lanes() const {
  return std::max(1U, setup_.behind.logins_at_once() / mine_.workers);
}

task<void> worker::open_sessions() {
  const std::size_t all = setup_.job.instances;
  sessions_.resize((all + mine_.workers - 1 - mine_.worker) / mine_.workers);
  std::function<task<void>(std::size_t)> open = [this](std::size_t n) { return open_session(n); };
  co_await in_lanes(loop_, sessions_.size(), lanes(), std::move(open));
  make_slots();
}

// Each has its own deadline: the number of sessions queued before it is not the server's fault.
task<void> worker::open_session(std::size_t n) {
  if (stopping_) co_return;
  const auto clients = static_cast<std::uint32_t>(setup_.job.clients);
  const std::size_t beside = std::min(lanes(), sessions_.size());
  std::int64_t told = 0;
  instance who;
  who.number = instance_number(n);
  who.id = fmt::format("{}-{:04x}", setup_.run_id, who.number);
  who.clients = clients;
  who.session_timeout = setup_.job.session_timeout;
  who.logins = static_cast<std::uint32_t>(std::max<std::size_t>(1, lanes() / beside));
  who.login_within = setup_.login_within;
  who.on_login = [this, &told] {
    ++told;
    gauges::add(gauges_.connected, 1);
  };
  const std::uint32_t turns = (clients + who.logins - 1) / who.logins;
  const time_point by = loop_.now() + turns * setup_.login_within;
  try {
    auto& behind = const_cast<driver&>(setup_.behind);
    sessions_[n] = co_await behind.open(loop_, std::move(who), by);
    gauges::add(gauges_.connected, clients - told);
  } catch (...) {
    fail(std::current_exception());
  }
}

// In order of the instances, regardless of when they opened.
void worker::make_slots() {
  const auto clients = static_cast<std::uint32_t>(setup_.job.clients);
  for (std::size_t n = 0; n < sessions_.size(); ++n) {
    if (sessions_[n] == nullptr) continue;
    const std::uint32_t first = instance_number(n) * clients;
    for (std::uint32_t c = 0; c < clients; ++c) {
      slots_.push_back(std::make_unique<client_slot>(loop_, stage_, *sessions_[n], first + c, c));
    }
  }
  std::erase(sessions_, nullptr);
}

// Every session, even if others throw: an open one would outlive the run.
task<void> worker::close_sessions() {
  std::function<task<void>(std::size_t)> close = [this](std::size_t n) {
    return close_session(*sessions_[n]);
  };
  co_await in_lanes(loop_, sessions_.size(), lanes(), std::move(close));
}

task<void> worker::close_session(session& s) {
  try {
    co_await s.close();
  } catch (...) {
    fail(std::current_exception());
  }
  gauges::add(gauges_.connected, -static_cast<std::int64_t>(setup_.job.clients));
}

traffic worker::traffic_so_far() const {
  traffic sum;
  for (const auto& s : sessions_) sum += s->sent();
  return sum;
}

// A client's whole life. Never throws, so that joining the clients waits for all of them.
task<void> worker::keep_busy(client_slot& s) {
  try {
    if (setup_.job.arrives_by_rate()) {
      co_await serve(s);
    } else {
      co_await closed_loop(s);
    }
  } catch (...) {
    s.who.give_up();
    fail(std::current_exception());
  }
}

task<void> worker::call_clients() {
  try {
    co_await dispatch();
  } catch (...) {
    fail(std::current_exception());
  }
}

// Each client starts its next attempt when the last one has ended and its think time is over.
task<void> worker::closed_loop(client_slot& s) {
  const bool thinks = !setup_.job.think.always_zero();
  time_point intended = loop_.now();
  while (!stopping_) {
    const std::uint64_t turn = loop_.turn();
    s.who.begin(intended, lateness::timer);
    co_await setup_.what.attempt(s.who);
    s.who.end();
    intended = s.who.finished_at();
    if (stopping_) break;
    if (thinks) {
      intended += s.who.think();
      co_await s.who.pause_until(intended);
    } else if (turn == loop_.turn()) {
      co_await loop_.yield();  // nothing in this attempt had to wait: let the others run
    }
  }
}

// Calls a client for every arrival of the schedule, at its intended time and never earlier.
task<void> worker::dispatch() {
  for (const auto& s : slots_) idle_.push_back(s.get());
  pace::schedule plan = pace::schedule_of(setup_.job, mine_);
  std::uint64_t arrivals = 0;
  while (!stopping_) {
    const time_point intended = start_ + plan.next().value();
    if (intended > loop_.now()) {
      go_.clear();
      co_await go_.wait_until(intended);
      if (stopping_) break;
    } else if (arrivals % arrivals_per_turn == arrivals_per_turn - 1) {
      co_await loop_.yield();
    }
    assign(intended, pace::number_of(arrivals++, mine_));
  }
}

void worker::assign(time_point intended, std::uint64_t arrival) {
  if (!idle_.empty()) {
    client_slot* const free = idle_.front();
    idle_.pop_front();
    free->next = due{intended, lateness::timer, arrival};
    free->called.set();
  } else if (backlog_.size() < setup_.job.backlog) {
    backlog_.push_back({intended, lateness::queue, arrival});
  } else if (setup_.window.contains(to_ns(intended))) {
    recorder_.count(counter::dropped);
  }
}

// Waits to be called; after an attempt it takes the oldest arrival from the backlog.
task<void> worker::serve(client_slot& s) {
  while (true) {
    if (!s.next) {
      if (stopping_) co_return;
      co_await s.called.wait();
      continue;
    }
    const due first = *s.next;
    co_await make_attempts(s, first);
    s.next.reset();
    if (!backlog_.empty()) {
      s.next = backlog_.front();
      backlog_.pop_front();
    } else {
      idle_.push_back(&s);
    }
  }
}

// One attempt, or, for a partly open loop, a session of several with think time between them.
task<void> worker::make_attempts(client_slot& s, due first) {
  s.who.begin(first.intended, first.why, first.arrival);
  co_await setup_.what.attempt(s.who);
  s.who.end();
  if (setup_.job.loop != config::loop_kind::partly_open) co_return;
  for (std::uint64_t cycle = 1; cycle < setup_.job.cycles && !stopping_; ++cycle) {
    const time_point intended = s.who.finished_at() + s.who.think();
    co_await s.who.pause_until(intended);
    if (stopping_) break;
    s.who.begin(intended, lateness::timer);
    co_await setup_.what.attempt(s.who);
    s.who.end();
  }
}

// The loop's own punctuality: how late a sleeping coroutine resumes.
task<void> worker::heartbeat() {
  metronome beat(loop_.now() + heartbeat_every, heartbeat_every);
  while (!over_) {
    const time_point intended = beat.next();
    co_await loop_.sleep_until(intended);
    const time_point now = loop_.now();
    const duration late = now - intended;
    if (late >= least_freeze) recorder_.froze({to_ns(intended), late.count(), mine_.worker});
    beat.strike(now, [this](time_point at, duration by, std::int64_t beats) {
      if (!setup_.window.contains(to_ns(at))) return;
      recorder_.record(series::loop_lag, by.count(), beats);
    });
  }
}

task<void> worker::tick() {
  time_point next_swap = start_ + interval_length;
  bool aligned = false;  // intervals count their seconds from the beginning of the window
  while (!over_) {
    co_await loop_.sleep_for(publish_every);
    const time_point now = loop_.now();
    publish(now);
    const std::int64_t window_start_ns = setup_.window.start_ns.load(std::memory_order_relaxed);
    if (!aligned && window_start_ns <= to_ns(now)) {
      aligned = true;
      next_swap = from_ns(window_start_ns);
    }
    if (now < next_swap) continue;
    end_interval(now);
    look_for_the_stuck(now);
    while (next_swap <= now) next_swap += interval_length;
  }
  const time_point now = loop_.now();
  publish(now);
  journal_.publish(window::never);
  end_interval(now);
}

void worker::end_interval(time_point now) {
  const traffic so_far = traffic_so_far();
  traffic meanwhile = so_far;
  meanwhile -= sent_until_now_;
  sent_until_now_ = so_far;
  recorder_.sent(meanwhile);
  recorder_.count(counter::renewals_late, meanwhile.late_renewals);
  recorder_.swap(to_ns(now));
}

// Otherwise a client whose call never ends would be noticed only at the end of the run. After a
// long pause of this thread the loop has to catch up first: a second look decides.
void worker::look_for_the_stuck(time_point now) {
  const bool is_stuck = std::ranges::any_of(
      slots_, [&](const auto& s) { return now - setup_.stuck_after > s->who.due(); });
  if (is_stuck && looked_stuck_) {
    const auto why = stuck_sentence("a client's call", setup_.lock, setup_.stuck_after);
    fail(std::make_exception_ptr(stuck_call(why)));
  }
  looked_stuck_ = is_stuck;
}

void worker::publish(time_point now) {
  journal_.publish(to_ns(now));
  gauges_.busy_ns.store(thread_cpu_ns(), std::memory_order_relaxed);
}

}  // namespace lockmark::run
