#include "harness/agents/agent.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "harness/agents/agent_run.hpp"
#include "harness/agents/coordinator_line.hpp"
#include "harness/agents/wire.hpp"
#include "harness/async/scope.hpp"
#include "harness/run/host.hpp"

namespace lockmark::agents {
namespace {

using namespace std::chrono_literals;

constexpr duration look_every = 20ms;
// Load that nobody controls ends after this, and so does the agent.
constexpr duration gone_after = 4s;
// A longer pause was no waiting, but a process that did not run.
constexpr duration longest_step = 200ms;
constexpr duration flush_within = 2s;

class agent {
 public:
  agent(loop& l, const real_clock& clock, const agent_setup& s)
      : loop_(l), clock_(clock), setup_(s), line_(clock, s.join, s.guests, hello_of(s)) {}

  task<void> live() {
    co_await join();
    while (!dismissed_) {
      co_await loop_.sleep_for(look_every);
      look();
      if (assigned_) co_await work();
    }
  }

 private:
  static wire::Hello hello_of(const agent_setup& s) {
    wire::Hello h;
    h.set_protocol(protocol);
    h.set_build(s.build);
    h.set_name(s.name);
    h.set_host(run::describe_host().host_name);
    h.set_cores(run::usable_cores());
    return h;
  }

  task<void> join() {
    const time_point by = clock_.now() + setup_.within;
    while (!line_.welcomed()) {
      refuse_to_stay();
      if (clock_.now() > by) {
        throw no_server(fmt::format(
            "no coordinator answered at {} within {:.0f} s, or it is not the one of the invitation",
            setup_.join, std::chrono::duration<double>(setup_.within).count()));
      }
      co_await loop_.sleep_for(look_every);
    }
    setup_.tell(fmt::format("joined {} as {}", setup_.join, setup_.name));
  }

  void refuse_to_stay() const {
    if (const std::string why = line_.refusal(); !why.empty()) {
      throw usage_error("the coordinator at {} refused this agent: {}", setup_.join, why);
    }
    if (setup_.interrupts != nullptr && setup_.interrupts->load() > 0) {
      throw usage_error("interrupted");
    }
  }

  // Only time in which this process ran counts: when it was stopped, the coordinator may have
  // spoken all the while. REQUIRES: called every few ms.
  bool is_alone() {
    const time_point now = clock_.now(), heard_at = line_.heard_at();
    if (heard_at != heard_at_) unheard_ = {};
    heard_at_ = heard_at;
    unheard_ += std::min<duration>(now - looked_at_, longest_step);
    looked_at_ = now;
    return unheard_ > gone_after;
  }

  void look() {
    refuse_to_stay();
    if (is_alone()) {
      throw no_server(fmt::format("the coordinator at {} is gone", setup_.join));
    }
    for (wire::ToAgent& message : line_.take()) hear(message);
  }

  void hear(wire::ToAgent& message) {
    if (message.has_dismissal()) dismissed_ = true;
    if (message.has_assignment()) {
      assigned_ = std::move(*message.mutable_assignment());
      line_.has_run(assigned_->run());
    }
    if (message.has_orders()) orders_ = message.orders();
  }

  // One run, to its end.
  task<void> work() {
    const wire::Assignment a = std::move(*assigned_);
    assigned_.reset();
    agent_run running(loop_, clock_, setup_, line_, hello_of(setup_), a);
    std::string gone;
    while (!running.over()) {
      for (wire::ToAgent& message : line_.take()) hear(message);
      if (gone.empty()) gone = why_alone();
      if (!gone.empty()) end_alone(a.run());
      if (orders_.run() == a.run()) running.obey(orders_);
      running.step();
      co_await loop_.sleep_for(look_every);
    }
    const bool delivered = line_.flush(clock_.now() + flush_within);
    if (gone.empty() && !delivered)
      gone = fmt::format("the coordinator at {} is gone", setup_.join);
    if (gone.empty()) co_return;
    throw no_server(delivered ? gone : fmt::format("{}; {}", gone, running.keep_part()));
  }

  // The window ends here, because nobody else can say so.
  void end_alone(std::uint32_t run) {
    if (orders_.run() != run) orders_.Clear();
    orders_.set_run(run);
    if (orders_.window_start_ns() != 0 && orders_.window_end_ns() == 0) {
      orders_.set_window_end_ns(to_ns(clock_.now()));
    }
    orders_.set_stop(true);
    orders_.set_hurry(true);
    orders_.set_close(true);
  }

  // Why the run ends here, whatever the coordinator may want.
  std::string why_alone() {
    if (const std::string why = line_.refusal(); !why.empty()) return why;
    if (is_alone()) {
      return fmt::format("the coordinator at {} is gone", setup_.join);
    }
    if (setup_.interrupts != nullptr && setup_.interrupts->load() > 0) {
      return "interrupted";
    }
    return {};
  }

  loop& loop_;
  const real_clock& clock_;
  const agent_setup& setup_;
  coordinator_line line_;
  std::optional<wire::Assignment> assigned_;
  wire::Orders orders_;
  bool dismissed_ = false;
  time_point looked_at_{}, heard_at_{};
  duration unheard_{};
};

// The folder of its parts goes with the agent if it came with it and nothing was kept.
class folder_of_parts {
 public:
  explicit folder_of_parts(std::filesystem::path where)
      : path_(std::move(where)), was_there_(std::filesystem::exists(path_)) {}
  folder_of_parts(const folder_of_parts&) = delete;
  folder_of_parts& operator=(const folder_of_parts&) = delete;
  ~folder_of_parts() {
    std::error_code ignored;
    if (!was_there_) std::filesystem::remove(path_, ignored);
  }

 private:
  const std::filesystem::path path_;
  const bool was_there_;
};

}  // namespace

void be_agent(const real_clock& clock, const agent_setup& s) {
  const folder_of_parts parts(s.keep);
  loop l{clock};
  agent one(l, clock, s);
  run_to_end(l, one.live());
}

}  // namespace lockmark::agents
