#include "harness/agents/coordinator_line.hpp"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "agents.grpc.pb.h"
#include "harness/agents/wire.hpp"

namespace lockmark::agents {
namespace {

using namespace std::chrono_literals;

// A coordinator says something five times a second.
constexpr duration deaf_after = 1500ms;
constexpr duration dial_again_after = 100ms;
constexpr duration dialled_within = 2s;
constexpr duration show_life_every = 200ms;
// At first in quick succession, so that the clock is known well before a load begins.
constexpr int quick_bursts = 16;
constexpr duration quick_burst_every = 10ms;
constexpr duration burst_every = 250ms;
// The first exchange after a pause wakes threads on both sides; the next ones are quicker, and the
// narrowest bounds count.
constexpr int burst = 3;
constexpr std::size_t most_exchanges = 100'000;

// Each call has a connection of its own: gRPC would share one.
std::shared_ptr<grpc::Channel> dial(const std::string& address, const invitation& i) {
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = i.certificate;
  grpc::ChannelArguments how;
  how.SetSslTargetNameOverride(coordinators_name);
  how.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  how.SetMaxReceiveMessageSize(largest_message);
  return grpc::CreateCustomChannel(address, grpc::SslCredentials(tls), how);
}

}  // namespace

coordinator_line::coordinator_line(const real_clock& clock, std::string address, invitation i,
                                   wire::Hello hello)
    : clock_(clock),
      address_(std::move(address)),
      invitation_(std::move(i)),
      hello_(std::move(hello)),
      heard_at_(clock.now()) {
  silence_grpc();
  hello_.set_token(invitation_.token);
  work_ = std::thread([this] { keep_connected(); });
  stamps_ = std::thread([this] { call_stamps(); });
}

coordinator_line::~coordinator_line() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
    if (work_call_ != nullptr) work_call_->TryCancel();
    if (stamp_call_ != nullptr) stamp_call_->TryCancel();
    changed_.notify_all();
  }
  work_.join();
  stamps_.join();
}

std::vector<wire::ToAgent> coordinator_line::take() {
  const std::lock_guard guard(mutex_);
  return std::exchange(heard_, {});
}

std::vector<exchange> coordinator_line::take_exchanges() {
  const std::lock_guard guard(mutex_);
  return std::exchange(exchanges_, {});
}

void coordinator_line::send(std::string report) {
  const std::lock_guard guard(mutex_);
  kept_bytes_ += report.size();
  kept_.push_back({++numbers_, std::move(report)});
  changed_.notify_all();
}

std::size_t coordinator_line::kept_bytes() const {
  const std::lock_guard guard(mutex_);
  return kept_bytes_;
}

bool coordinator_line::flush(time_point by) {
  while (clock_.now() < by) {
    {
      const std::lock_guard guard(mutex_);
      if (kept_.empty()) return true;
      if (!refusal_.empty()) return false;
    }
    block_until(clock_.now() + 5ms);
  }
  return false;
}

void coordinator_line::has_run(std::uint32_t run) {
  const std::lock_guard guard(mutex_);
  hello_.set_run(run);
}

bool coordinator_line::welcomed() const {
  const std::lock_guard guard(mutex_);
  return welcomed_;
}

std::string coordinator_line::refusal() const {
  const std::lock_guard guard(mutex_);
  return refusal_;
}

time_point coordinator_line::heard_at() const {
  const std::lock_guard guard(mutex_);
  return heard_at_;
}

bool coordinator_line::closing() const {
  const std::lock_guard guard(mutex_);
  return closing_ || !refusal_.empty();
}

// False: the line is closing.
bool coordinator_line::pause(duration d) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, d, [&] { return closing_ || !refusal_.empty(); });
  return !closing_ && refusal_.empty();
}

void coordinator_line::keep_connected() {
  do converse();
  while (pause(dial_again_after));
}

// One connection, to its end.
void coordinator_line::converse() {
  const auto channel = dial(address_, invitation_);
  if (!channel->WaitForConnected(deadline_after(dialled_within))) return;
  const auto stub = wire::Coordinator::NewStub(channel);
  grpc::ClientContext context;
  wire::FromAgent first;
  {
    const std::lock_guard guard(mutex_);
    if (closing_) return;
    work_call_ = &context;
    *first.mutable_hello() = hello_;
  }
  const auto stream = stub->Work(&context);
  wire::ToAgent answer;
  if (stream->Write(first) && stream->Read(&answer)) {
    hear(answer);
    bool over = false;
    std::thread writer;
    if (answer.has_welcome()) {
      writer = std::thread([&, after = answer.welcome().received()] {
        write_reports(*stream, after, over);
        context.TryCancel();
      });
    }
    while (stream->Read(&answer)) hear(answer);
    {
      const std::lock_guard guard(mutex_);
      over = true;
      changed_.notify_all();
    }
    if (writer.joinable()) writer.join();
  }
  context.TryCancel();
  stream->Finish();
  const std::lock_guard guard(mutex_);
  work_call_ = nullptr;
}

// Those that the coordinator does not have, oldest first. Returns when the connection has ended, or
// seems dead.
template <class Stream>
void coordinator_line::write_reports(Stream& stream, std::uint64_t after, const bool& over) {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto has_more = [&] { return !kept_.empty() && kept_.back().number > after; };
    changed_.wait_for(lock, show_life_every, [&] { return over || closing_ || has_more(); });
    if (over || closing_ || clock_.now() - heard_at_ > deaf_after) return;
    wire::FromAgent message;  // empty: shows that this side lives
    if (has_more()) {
      after = std::max(after + 1, kept_.front().number);
      message.set_number(after);
      message.set_report(kept_[after - kept_.front().number].report);
    }
    lock.unlock();
    const bool written = stream.Write(message);
    lock.lock();
    if (!written) return;
  }
}

void coordinator_line::hear(const wire::ToAgent& message) {
  const std::lock_guard guard(mutex_);
  heard_at_ = clock_.now();
  std::uint64_t received = 0;
  switch (message.what_case()) {
    case wire::ToAgent::kRefusal: refusal_ = message.refusal().sentence(); break;
    case wire::ToAgent::kWelcome:
      welcomed_ = true;
      hello_.set_session(message.welcome().session());
      received = message.welcome().received();
      break;
    case wire::ToAgent::kReceived: received = message.received().number(); break;
    default: heard_.push_back(message);
  }
  while (!kept_.empty() && kept_.front().number <= received) {
    kept_bytes_ -= kept_.front().report.size();
    kept_.pop_front();
  }
  changed_.notify_all();
}

void coordinator_line::call_stamps() {
  while (pause(quick_burst_every)) {
    if (!welcomed()) continue;
    exchange_stamps();
  }
}

void coordinator_line::note(const exchange& e) {
  const std::lock_guard guard(mutex_);
  if (exchanges_.size() < most_exchanges) exchanges_.push_back(e);
}

// One connection, to its end.
void coordinator_line::exchange_stamps() {
  punctual_thread();
  const auto channel = dial(address_, invitation_);
  if (!channel->WaitForConnected(deadline_after(dialled_within))) return;
  const auto stub = wire::Coordinator::NewStub(channel);
  grpc::ClientContext context;
  wire::AgentStamp stamp;
  {
    const std::lock_guard guard(mutex_);
    if (closing_) return;
    stamp_call_ = &context;
    stamp.set_session(hello_.session());
  }
  const auto stream = stub->Stamps(&context);
  wire::CoordinatorStamp back;
  for (int n = 0;; ++n) {
    stamp.set_slew_ppm(clock_slew_ppm());
    stamp.set_sent_ns(to_ns(clock_.now()));
    if (!stream->Write(stamp) || !stream->Read(&back)) break;
    stamp.set_heard_ns(to_ns(clock_.now()));
    note({stamp.sent_ns(), back.received_ns(), back.answered_ns(), stamp.heard_ns(),
          drift_ppm(stamp.slew_ppm(), back.slew_ppm())});
    if (n % burst != burst - 1) continue;
    if (!pause(n < quick_bursts * burst ? quick_burst_every : burst_every)) break;
  }
  context.TryCancel();
  stream->Finish();
  const std::lock_guard guard(mutex_);
  stamp_call_ = nullptr;
}

}  // namespace lockmark::agents
