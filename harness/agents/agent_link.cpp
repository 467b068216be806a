#include "harness/agents/agent_link.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace lockmark::agents {
namespace {

using namespace std::chrono_literals;

// A connection without news still shows that both sides live.
constexpr duration ack_every = 200ms;
// Said so after this, ...
constexpr duration silent_after = 2s;
// ... and given up after that: a broken connection comes back within seconds or not at all, but a
// host may stand still for longer and go on.
constexpr duration lost_when_broken_for = 2500ms;
constexpr duration lost_when_silent_for = 10s;
// Then the agent waits, and keeps what it has: some 100 MB in our memory.
constexpr std::size_t most_unread = 2'000'000;

}  // namespace

agent_link::agent_link(const real_clock& clock, host_facts facts, std::string session)
    : clock_(clock),
      facts_(std::move(facts)),
      session_(std::move(session)),
      heard_at_(clock.now()) {}

bool agent_link::knows_clock() const {
  const std::lock_guard guard(mutex_);
  return host_clock_.known();
}

std::vector<far_member*> agent_link::assign(wire::Assignment a, const run_shape& shape) {
  const std::lock_guard guard(mutex_);
  std::vector<far_member*> made;
  members_.clear();
  for (const std::uint32_t number : a.numbers()) {
    members_.push_back(std::make_unique<far_member>(number, shape));
    made.push_back(members_.back().get());
  }
  assignment_ = std::move(a);
  orders_ = {};
  ++orders_version_;
  run_over_ = false;
  trouble_.clear();
  cpu_ns_ = late_ns_ = 0;
  longest_silence_ = {};
  clock_errors_ = stats::histogram();
  return made;
}

void agent_link::begin() {
  const std::lock_guard guard(mutex_);
  begun_ = assignment_.run();
  changed_.notify_all();
}

void agent_link::order(const orders& o) {
  const std::lock_guard guard(mutex_);
  orders_ = o;
  ++orders_version_;
  changed_.notify_all();
}

void agent_link::dismiss() {
  const std::lock_guard guard(mutex_);
  dismissed_ = true;
  changed_.notify_all();
}

void agent_link::have_read() {
  const std::lock_guard guard(mutex_);
  if (unread_ >= most_unread) changed_.notify_all();
  unread_ = 0;
}

std::optional<std::string> agent_link::look(time_point now) {
  const std::lock_guard guard(mutex_);
  if (lost_ || dismissed_) return std::nullopt;
  const duration silence = now - heard_at_;
  longest_silence_ = std::max(longest_silence_, silence);
  const auto seconds = [](duration d) { return std::chrono::duration<double>(d).count(); };
  if (!connected_ && now - broken_at_ > lost_when_broken_for) {
    lose(fmt::format("agent {} is lost: its connection broke {:.1f} s ago", facts_.name,
                     seconds(now - broken_at_)));
    return trouble_;
  }
  if (silence > lost_when_silent_for) {
    lose(fmt::format("agent {} is lost: nothing was heard of it for {:.1f} s", facts_.name,
                     seconds(silence)));
    return trouble_;
  }
  const bool is_silent = silence > silent_after;
  if (is_silent == silent_) return std::nullopt;
  silent_ = is_silent;
  if (!is_silent) return fmt::format("agent {} is heard again", facts_.name);
  return fmt::format("agent {} is silent", facts_.name);
}

void agent_link::lose(std::string why) {
  lost_ = true;
  trouble_ = std::move(why);
  for (const auto& m : members_) m->lose();
  changed_.notify_all();
}

std::int64_t agent_link::to_ours(std::int64_t theirs_ns) {
  const std::lock_guard guard(mutex_);
  return host_clock_.to_ours(theirs_ns);
}

void agent_link::give_up(const std::string& why) {
  const std::lock_guard guard(mutex_);
  if (!lost_) lose(why);
}

bool agent_link::lost() const {
  const std::lock_guard guard(mutex_);
  return lost_;
}

bool agent_link::run_is_over() const {
  const std::lock_guard guard(mutex_);
  return run_over_ || lost_;
}

std::string agent_link::trouble() const {
  const std::lock_guard guard(mutex_);
  return lost_ ? std::string() : trouble_;
}

std::int64_t agent_link::cpu_ns() const {
  const std::lock_guard guard(mutex_);
  return cpu_ns_;
}

std::int64_t agent_link::late_ns() const {
  const std::lock_guard guard(mutex_);
  return late_ns_;
}

clock_record agent_link::record() const {
  const std::lock_guard guard(mutex_);
  return {host_clock_.offset_ns(), host_clock_.exchanges(), host_clock_.breaks(), clock_errors_};
}

std::int64_t agent_link::error_ns(std::int64_t at_ns) const {
  const std::lock_guard guard(mutex_);
  return host_clock_.error_ns(at_ns);
}

time_point agent_link::heard_at() const {
  const std::lock_guard guard(mutex_);
  return heard_at_;
}

duration agent_link::longest_silence() const {
  const std::lock_guard guard(mutex_);
  return longest_silence_;
}

std::uint64_t agent_link::connect(std::uint32_t has_run) {
  const std::lock_guard guard(mutex_);
  connected_ = true;
  heard_at_ = clock_.now();
  told_ = {};
  told_.run = has_run;
  changed_.notify_all();
  return ++connections_;
}

void agent_link::disconnect(std::uint64_t connection) {
  const std::lock_guard guard(mutex_);
  if (connection != connections_ || !connected_) return;
  connected_ = false;
  broken_at_ = clock_.now();
  changed_.notify_all();
}

std::optional<wire::ToAgent> agent_link::next(std::uint64_t connection) {
  std::unique_lock lock(mutex_);
  const auto ended = [&] { return connection != connections_ || !connected_; };
  const auto has_orders = [&] {
    return told_.run == assignment_.run() && told_.orders_version != orders_version_ &&
           host_clock_.known();
  };
  const auto has_news = [&] {
    return ended() || told_.run != begun_ || has_orders() || told_.received + 16 <= received_ ||
           (dismissed_ && !told_.dismissed);
  };
  changed_.wait_for(lock, ack_every, has_news);
  if (ended()) return std::nullopt;
  wire::ToAgent out;
  if (lost_) {
    out.mutable_refusal()->set_sentence(trouble_ + ", and the run went on without it");
  } else if (told_.run != begun_) {
    *out.mutable_assignment() = assignment_;
    told_.run = begun_;
  } else if (has_orders()) {
    *out.mutable_orders() = orders_for_agent();
    told_.orders_version = orders_version_;
  } else if (dismissed_ && !told_.dismissed) {
    out.mutable_dismissal();
    told_.dismissed = true;
  } else {
    out.mutable_received()->set_number(received_);
    told_.received = received_;
  }
  return out;
}

wire::Orders agent_link::orders_for_agent() const {
  const auto theirs = [&](std::int64_t ours_ns) {
    return ours_ns == 0 ? 0 : host_clock_.to_theirs(ours_ns);
  };
  wire::Orders out;
  out.set_run(assignment_.run());
  out.set_go_ns(theirs(orders_.go_ns));
  out.set_window_start_ns(theirs(orders_.window_start_ns));
  out.set_window_end_ns(theirs(orders_.window_end_ns));
  out.set_stop(orders_.stop);
  out.set_hurry(orders_.hurry);
  out.set_close(orders_.close);
  out.set_kill(orders_.kill);
  return out;
}

bool agent_link::take(std::uint64_t connection, const wire::FromAgent& message) {
  std::unique_lock lock(mutex_);
  const auto ended = [&] { return connection != connections_ || !connected_; };
  changed_.wait(lock, [&] { return ended() || lost_ || unread_ < most_unread; });
  if (ended() || lost_) return false;
  const time_point now = clock_.now();
  longest_silence_ = std::max(longest_silence_, now - heard_at_);
  heard_at_ = now;
  if (message.has_report()) take_report(message.number(), message.report());
  return true;
}

// Reports that were sent again are known already.
void agent_link::take_report(std::uint64_t number, const std::string& bytes) {
  if (number <= received_) return;
  if (number != received_ + 1) throw std::runtime_error("one of its reports is missing");
  wire::Report report;
  if (!report.ParseFromString(bytes)) throw std::runtime_error("one of its reports is none");
  received_ = number;
  if (told_.received + 16 <= received_) changed_.notify_all();
  if (report.run() != assignment_.run() || !host_clock_.known()) return;
  for (const wire::ParticipantReport& one : report.participants()) {
    const auto is_it = [&](const auto& m) { return m->number() == one.number(); };
    const auto found = std::ranges::find_if(members_, is_it);
    if (found == members_.end()) throw std::runtime_error("it reports on another's participant");
    (*found)->take(one, host_clock_);
    unread_ += static_cast<std::size_t>(one.events().after_ns_size());
  }
  cpu_ns_ = report.cpu_ns();
  late_ns_ = std::max(late_ns_, report.late_ns());
  if (trouble_.empty()) trouble_ = report.trouble();
  run_over_ = run_over_ || report.over();
}

void agent_link::learn(const exchange& e) {
  const std::lock_guard guard(mutex_);
  host_clock_.learn(e);
  if (host_clock_.known()) clock_errors_.record(host_clock_.error_ns(e.answered_ns));
  if (host_clock_.exchanges() == 1) changed_.notify_all();
}

std::uint64_t agent_link::received() const {
  const std::lock_guard guard(mutex_);
  return received_;
}

}  // namespace lockmark::agents
