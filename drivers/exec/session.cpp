#include "drivers/exec/session.hpp"

#include <algorithm>
#include <utility>

namespace lockmark::exec {
namespace {

// A client that waits until the deadline answers slightly after it.
constexpr duration one_round_trip = std::chrono::milliseconds{700};

constexpr std::size_t doubts_remembered = 10'000;

}  // namespace

exec_session::exec_session(loop& l, std::unique_ptr<link> talk, bool renews)
    : loop_(l), link_(std::move(talk)), renews_(renews) {
  link_->on_late = [this](const answer& late) { give_back(late); };
}

task<outcome<grant>> exec_session::acquire(request r) {
  return call(operation::acquire, r);
}

task<outcome<grant>> exec_session::renew(request r) {
  if (!renews_) {
    throw usage_error(link_->sentence(
        "is asked to renew a lease and does not say that it can: its answer to hello has no "
        "\"renewable\" among its \"features\""));
  }
  return call(operation::renew, r);
}

task<outcome<nothing>> exec_session::release(request r) {
  const auto gone = co_await call(operation::release, r);
  if (!gone.done()) co_return gone.without_value<nothing>();
  co_return nothing{};
}

task<outcome<grant>> exec_session::call(operation op, request r) {
  const time_point asked = loop_.now();
  const std::uint64_t id = ++last_id_;
  std::string line = call_line(op, id, r, r.deadline - asked, r.grace);
  const time_point limit = std::max(r.answer_by(), r.deadline + one_round_trip);
  const auto said = co_await link_->ask(id, std::move(line), limit);
  if (!said) {
    if (link_->dead()) co_return doubt::connection_lost;
    if (op == operation::acquire && doubtful_.size() < doubts_remembered) doubtful_[id] = r;
    co_return doubt::deadline;
  }
  if (said->reconnects) sent_.reconnects = *said->reconnects;
  const duration pipe = pipe_of(loop_.now() - asked, said->at);
  sent_.pipe_ns += static_cast<std::uint64_t>(pipe.count());
  if (!said->ending->done()) co_return *said->ending;
  grant g = said->ending->value();
  g.pipe = pipe;
  g.pipe_unknown = !said->at;
  if (said->valid) g.valid_until = (said->at ? said->at->ended : asked) + *said->valid;
  co_return g;
}

void exec_session::give_back(const answer& late) {
  const auto found = doubtful_.find(late.id);
  if (found == doubtful_.end()) return;
  const request r = found->second;
  doubtful_.erase(found);
  if (!late.ending->done()) return;
  const std::uint64_t id = ++last_id_;
  link_->tell(id, call_line(operation::release, id, r, std::chrono::seconds{1}, duration{}));
}

// A client that died while idle has failed as well.
task<void> exec_session::close() {
  const std::string why = link_->dead() ? link_->sentence() : std::string{};
  co_await link_->end();
  if (!why.empty()) throw no_server(why);
}

}  // namespace lockmark::exec
