#include "harness/agents/agent_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/agents/event_codec.hpp"
#include "harness/base/files.hpp"
#include "harness/run/participants/interval_codec.hpp"

namespace lockmark::agents {
namespace {

using namespace std::chrono_literals;
using state = wire::ParticipantReport;

constexpr duration report_every = 100ms;
constexpr duration closing_within = 15s;

void set_gauges(const run::gauges& from, wire::Gauges& to) {
  const auto of = [](const std::atomic<std::int64_t>& gauge) {
    return gauge.load(std::memory_order_relaxed);
  };
  to.set_in_flight(of(from.in_flight));
  to.set_holding(of(from.holding));
  to.set_finished(of(from.finished));
  to.set_counted(of(from.counted));
  to.set_granted(of(from.granted));
  to.set_reached_ns(of(from.reached_ns));
  to.set_failed_ns(of(from.failed_ns));
  to.set_busy_ns(of(from.busy_ns));
  to.set_connected(of(from.connected));
}

wire::Failure as_failure(const std::exception_ptr& why) {
  wire::Failure f;
  try {
    std::rethrow_exception(why);
  } catch (const usage_error& e) {
    f.set_kind(wire::Failure::USAGE);
    f.set_sentence(e.what());
  } catch (const no_server& e) {
    f.set_kind(wire::Failure::NO_SERVER);
    f.set_sentence(e.what());
  } catch (const std::exception& e) {
    f.set_sentence(e.what());
  }
  return f;
}

state::State state_of(run::standing s) {
  switch (s) {
    case run::standing::starting: return state::STARTING;
    case run::standing::ready: return state::READY;
    default: return state::QUIET;
  }
}

}  // namespace

agent_run::agent_run(loop& l, const real_clock& clock, const agent_setup& s, coordinator_line& line,
                     const wire::Hello& agent, const wire::Assignment& a)
    : loop_(l),
      clock_(clock),
      setup_(s),
      line_(line),
      run_(a.run()),
      numbers_(a.numbers().begin(), a.numbers().end()),
      cpu_before_ns_(process_cpu_ns()),
      ending_(l) {
  open_part(a, agent);
  try {
    start(a);
  } catch (const std::exception&) {
    failure_ = as_failure(std::current_exception());
  }
}

agent_run::~agent_run() = default;

// A machine without a place for it carries its load all the same.
void agent_run::open_part(const wire::Assignment& a, const wire::Hello& agent) {
  const auto folder =
      std::filesystem::path(setup_.keep) / fmt::format("part-{}-{}", a.run_id(), setup_.name);
  try {
    part_ = std::make_unique<part_writer>(folder, agent, a, to_ns(clock_.now()), wall_time_ns());
  } catch (const file_error& e) {
    setup_.tell(fmt::format("its part of a run will not be kept: {}", e.what()));
  }
  note_exchanges();
}

void agent_run::note_exchanges() {
  for (const exchange& e : line_.take_exchanges()) {
    if (part_) part_->add(e, to_ns(clock_.now()));
  }
}

std::string agent_run::keep_part() {
  if (part_ == nullptr) return "its part of the run could not be kept";
  note_exchanges();
  const bool whole = part_->keep();
  return fmt::format("its part of the run is kept in {}{}", part_->folder().string(),
                     whole ? "" : ", without what no longer fitted on the disk");
}

void agent_run::start(const wire::Assignment& a) {
  const config::job job = config::parse_job(a.job(), "the coordinator's job");
  run::process_pool_setup who{.job = job,
                              .lock = setup_.lock(job),
                              .workload = setup_.workload(a.workload()),
                              .options = {a.options().begin(), a.options().end()},
                              .holders = a.holders(),
                              .run_id = a.run_id(),
                              .target_of = [target = a.target()](std::uint32_t) { return target; },
                              .notes_answers = a.notes_answers(),
                              .numbers = numbers_};
  pool_ = std::make_unique<run::process_worker_pool>(clock_, who);
  pool_->start();
}

void agent_run::obey(const wire::Orders& o) {
  if (part_ && o.SerializeAsString() != done_.SerializeAsString()) {
    part_->add(o, to_ns(clock_.now()));
  }
  if (pool_ == nullptr) {
    ended_ = ended_ || o.close();
    done_ = o;
    return;
  }
  const std::int64_t now_ns = to_ns(clock_.now());
  const auto told = [&](std::int64_t at_ns) { late_ns_ = std::max(late_ns_, now_ns - at_ns); };
  if (o.go_ns() != 0 && done_.go_ns() == 0) {
    told(o.go_ns());
    pool_->go(from_ns(o.go_ns()));
  }
  if (o.window_start_ns() != 0 && done_.window_start_ns() == 0) {
    told(o.window_start_ns());
    pool_->measured().start_ns.store(o.window_start_ns());
  }
  if (o.window_end_ns() != 0 && done_.window_end_ns() == 0) {
    told(o.window_end_ns());
    pool_->measured().end_ns.store(o.window_end_ns());
  }
  if (o.stop() && !done_.stop()) pool_->stop();
  if (o.hurry() && !done_.hurry()) pool_->hurry();
  if (o.kill() && !done_.kill()) pool_->kill_the_stuck();
  if (o.close()) close();
  done_ = o;
}

void agent_run::close() {
  if (closing_) return;
  closing_ = true;
  pool_->close();
  ending_.spawn(end());
}

// Rather than this machine's memory. The coordinator learns why with the reports that wait for it.
void agent_run::end_load() {
  is_full_ = true;
  setup_.tell(
      fmt::format("its load ends: {:.2f} MiB wait for the coordinator, more than it may keep",
                  static_cast<double>(line_.kept_bytes()) / (1 << 20)));
  pool_->stop();
  pool_->hurry();
  close();
}

task<void> agent_run::end() {
  co_await pool_->join(loop_, closing_within);
  ended_ = true;
}

void agent_run::step() {
  if (over_) return;
  if (pool_ != nullptr && !is_full_ && line_.kept_bytes() > setup_.buffer_bytes) end_load();
  if (ended_) {
    report(true);
    over_ = true;
  } else if (clock_.now() - last_report_ >= report_every) {
    report(false);
  }
}

void agent_run::report(bool last) {
  last_report_ = clock_.now();
  wire::Report& out = report_;
  out.Clear();
  out.set_run(run_);
  out.set_over(last);
  out.set_late_ns(late_ns_);
  std::int64_t cpu_ns = process_cpu_ns() - cpu_before_ns_;
  if (pool_ != nullptr) {
    pool_->fetch();
    cpu_ns += pool_->cpu_elsewhere_ns();
    out.set_trouble(pool_->trouble());
  }
  if (is_full_) {
    out.set_trouble(
        fmt::format("it measured more than the coordinator took in time: {:.2f} MiB is "
                    "the most that --buffer lets it keep",
                    static_cast<double>(setup_.buffer_bytes) / (1 << 20)));
  }
  out.set_cpu_ns(cpu_ns);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    wire::ParticipantReport& one = *out.add_participants();
    one.set_number(numbers_[i]);
    if (pool_ != nullptr) {
      report_on(i, one);
    } else {
      one.set_state(state::READY);
      *one.mutable_failure() = *failure_;
      one.set_complete_until_ns(run::window::never);
    }
    if (last) one.set_state(state::OVER);
  }
  note_exchanges();
  std::string bytes = out.SerializeAsString();
  if (part_) part_->add_report(bytes, to_ns(clock_.now()));
  line_.send(std::move(bytes));
}

void agent_run::report_on(std::size_t member, wire::ParticipantReport& to) {
  run::pool_member& m = *pool_->members()[member];
  // Before the events: what it has promised by now is in them.
  to.set_state(m.gone() ? state::OVER : state_of(pool_->state(member)));
  events_.clear();
  to.set_complete_until_ns(m.journal().collect(events_));
  append(events_, *to.mutable_events());
  for (auto& whole : m.recorder().take()) {
    to.add_intervals(run::encode(*whole));
    m.recorder().give_back(std::move(whole));
  }
  set_gauges(m.gauges(), *to.mutable_gauges());
  if (const auto why = pool_->failure_of(member)) *to.mutable_failure() = as_failure(why);
  for (const run::death& d : pool_->deaths()) {
    if (d.participant != numbers_[member]) continue;
    to.mutable_death()->set_wait_status(d.wait_status);
    to.mutable_death()->set_at_ns(d.at_ns);
    to.mutable_death()->set_measured_until_ns(d.measured_until_ns);
  }
}

}  // namespace lockmark::agents
