#include "harness/run/participants/remote.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <new>

#include "harness/run/participants/interval_codec.hpp"

namespace lockmark::run {

remote::remote(assignment task, bool optimistic)
    : task_(std::move(task)),
      memory_(task_.own.bytes()),
      events_(block().events, task_.own.event_room(memory_.data())),
      intervals_(block().intervals, task_.own.interval_room(memory_.data())),
      history_(task_.participants, static_cast<std::uint32_t>(task_.job.clients), optimistic,
               task_.notes_answers) {
  new (memory_.data()) participant_block;
}

void remote::start(const std::string& program, int common_memory) {
  process_ = std::make_unique<participant_process>(program, common_memory, memory_.fd());
  send_text(process_->control(), to_text(task_));  // if it is already gone, its death is noticed
}

void remote::tell(order what) {
  if (process_ == nullptr || over_) return;
  send(process_->control(), &what, sizeof what, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void remote::expect_death(time_point at) {
  if (expected_ns_ == 0) expected_ns_ = to_ns(at);
}

void remote::fetch() {
  if (history_over_) return;
  fresh_.clear();
  promised_ns_ = std::max(promised_ns_, events_.read(fresh_));
  for (const check::event& e : fresh_) {
    history_.see(e);
    journal_.note(e);
  }
  fetch_intervals();
  journal_.publish(promised_ns_);
  if (!events_.overflowed() && !intervals_.overflowed()) return;
  // From here on its holds and waits are unknown.
  overflowed_ = true;
  end_history(promised_ns_);
}

void remote::fetch_intervals() {
  while (const auto bytes = intervals_.next()) {
    auto whole = recorder_.blank();
    decode(*bytes, *whole);
    sent_ += whole->sent;
    measured_until_ns_ = whole->end_ns;
    recorder_.deliver(std::move(whole));
  }
}

// Not later than its death, and not earlier than its last known event: so the check neither takes a
// dead process for a holder, nor overlooks its actions.
void remote::end_history(std::int64_t at_ns) {
  if (history_over_) return;
  history_over_ = true;
  died_ns_ = std::max(at_ns, history_.last_ns());
  for (const check::event& e : history_.ends_at(died_ns_)) journal_.note(e);
  journal_.publish(window::never);
}

void remote::end(int wait_status) {
  if (over_) return;
  wait_status_ = wait_status;
  fetch();
  over_ = true;
  const standing last = state();
  died_ = last != standing::ended && last != standing::failed;
  const bool was_done = promised_ns_ == window::never;
  end_history(was_done ? history_.last_ns() : std::max(promised_ns_, expected_ns_));
  block().gauges.in_flight.store(0, std::memory_order_relaxed);
  block().gauges.holding.store(0, std::memory_order_relaxed);
}

std::exception_ptr remote::failure() const {
  if (!block().has_failed.load(std::memory_order_acquire)) return nullptr;
  const std::string sentence = block().sentence.data();
  switch (block().failure) {
    case failure_kind::usage: return std::make_exception_ptr(usage_error(sentence));
    case failure_kind::no_server: return std::make_exception_ptr(no_server(sentence));
    case failure_kind::other: break;
  }
  return std::make_exception_ptr(std::runtime_error(sentence));
}

}  // namespace lockmark::run
