#include "harness/agents/far_member.hpp"

#include <algorithm>
#include <stdexcept>

#include "harness/agents/event_codec.hpp"
#include "harness/base/errors.hpp"
#include "harness/run/participants/interval_codec.hpp"

namespace lockmark::agents {
namespace {

std::exception_ptr as_exception(const wire::Failure& f) {
  switch (f.kind()) {
    case wire::Failure::USAGE: return std::make_exception_ptr(usage_error(f.sentence()));
    case wire::Failure::NO_SERVER: return std::make_exception_ptr(no_server(f.sentence()));
    default: return std::make_exception_ptr(std::runtime_error(f.sentence()));
  }
}

}  // namespace

far_member::far_member(std::uint32_t number, const run_shape& shape)
    : number_(number),
      shape_(shape),
      history_(shape.participants, shape.clients, shape.optimistic, shape.notes_answers) {}

void far_member::take(const wire::ParticipantReport& report, host_clock& clock) {
  if (lost_) return;
  take_events(report, clock);
  for (const std::string& bytes : report.intervals()) take_interval(bytes, clock);
  if (report.has_gauges()) take_gauges(report.gauges(), clock);
  if (report.has_failure() && !failure_) failure_ = as_exception(report.failure());
  if (report.has_death()) {
    death_ =
        run::death{number_, report.death().wait_status(), clock.to_ours(report.death().at_ns()),
                   clock.to_ours(report.death().measured_until_ns())};
  }
  state_ = std::max(state_, report.state());
  if (state_ == wire::ParticipantReport::OVER) gone_ = true;
}

void far_member::take_events(const wire::ParticipantReport& report, host_clock& clock) {
  const auto events = read_events(report.events(),
                                  [&](std::int64_t theirs_ns) { return clock.to_ours(theirs_ns); });
  for (const check::event& e : events) {
    check(e);
    history_.see(e);
    journal_.note(e);
  }
  const std::int64_t until_ns = report.complete_until_ns();
  if (until_ns == run::window::never) {
    promised_ns_ = run::window::never;
  } else if (until_ns > 0) {
    promised_ns_ = std::max(promised_ns_, clock.to_ours(until_ns));
  }
  journal_.publish(promised_ns_);
}

// The checks index by what events say.
void far_member::check(const check::event& e) const {
  const std::uint32_t instance = e.client / shape_.clients;
  const bool is_own = instance < shape_.instances && instance % shape_.participants == number_;
  if (!is_own || e.key >= shape_.keys) {
    throw std::runtime_error("its events are of clients or keys that it does not have");
  }
}

void far_member::take_interval(const std::string& bytes, host_clock& clock) {
  auto whole = recorder_.blank();
  run::decode(bytes, *whole);
  whole->start_ns = clock.to_ours(whole->start_ns);
  whole->end_ns = clock.to_ours(whole->end_ns);
  for (run::freeze& f : whole->freezes) {
    f.from_ns = clock.to_ours(f.from_ns);
    f.worker = number_;
  }
  sent_ += whole->sent;
  measured_until_ns_ = whole->end_ns;
  recorder_.deliver(std::move(whole));
}

void far_member::take_gauges(const wire::Gauges& g, host_clock& clock) {
  const auto set = [](std::atomic<std::int64_t>& gauge, std::int64_t value) {
    gauge.store(value, std::memory_order_relaxed);
  };
  const auto ours = [&](std::int64_t theirs_ns) {
    return theirs_ns == 0 ? 0 : clock.to_ours(theirs_ns);
  };
  set(gauges_.in_flight, g.in_flight());
  set(gauges_.holding, g.holding());
  set(gauges_.finished, g.finished());
  set(gauges_.counted, g.counted());
  set(gauges_.granted, g.granted());
  set(gauges_.reached_ns, ours(g.reached_ns()));
  set(gauges_.failed_ns, ours(g.failed_ns()));
  set(gauges_.busy_ns, g.busy_ns());
  set(gauges_.connected, g.connected());
}

// Its clients may hold and wait still, but nobody will hear of it: a hold that goes on would make
// violations of grants that were right.
void far_member::lose() {
  if (over()) return;
  lost_ = true;
  const std::int64_t end_ns = std::max(promised_ns_, history_.last_ns());
  promised_ns_ = end_ns;
  for (const check::event& e : history_.ends_at(end_ns)) journal_.note(e);
  journal_.publish(run::window::never);
  gone_ = true;
  gauges_.in_flight.store(0, std::memory_order_relaxed);
  gauges_.holding.store(0, std::memory_order_relaxed);
  gauges_.connected.store(0, std::memory_order_relaxed);
}

}  // namespace lockmark::agents
