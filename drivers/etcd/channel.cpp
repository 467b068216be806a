#include "drivers/etcd/channel.hpp"

#include <fmt/format.h>

#include <asio/error.hpp>
#include <utility>

#include "drivers/etcd/channel_line.hpp"
#include "drivers/etcd/messages.hpp"
#include "drivers/etcd/paths.hpp"

namespace lockmark::etcd {
namespace {

using namespace std::chrono_literals;

constexpr duration connect_within = 3s;  // with TLS and login
// A connection that lasted no longer counts as a failed attempt.
constexpr duration short_lived = 1s;
constexpr duration between_rounds = 100ms;

}  // namespace

channel::channel(loop& l, scope& tasks, const servers& where, std::size_t first, traffic& count)
    : loop_(l),
      tasks_(tasks),
      where_(where),
      count_(count),
      member_(first % where.hosts.size()),
      poked_(l) {}

std::shared_ptr<channel> channel::open(loop& l, scope& tasks, const servers& where,
                                       std::size_t first, traffic& count) {
  const std::shared_ptr<channel> opened(new channel(l, tasks, where, first, count));
  tasks.spawn(pump(opened));
  return opened;
}

void channel::close() {
  closing_ = true;
  lose("closed");
  wake_everybody();
  poked_.set();
}

// Waiting for a connection ----------------------------------------------------------------------

task<bool> channel::changed_by(time_point deadline) {
  signal changed{loop_};
  waiting_for_change_.push_back(&changed);
  const bool woken = co_await changed.wait_until(deadline);
  std::erase(waiting_for_change_, &changed);
  co_return woken;
}

void channel::wake_everybody() {
  for (signal* const waiter : waiting_for_change_) waiter->set();
}

void channel::check_usable() const {
  if (!useless_.empty()) throw no_server(useless_);
}

task<bool> channel::connected_by(time_point deadline) {
  bool in_time = true;
  while (in_time && !open_ && !closing_ && useless_.empty()) {
    in_time = co_await changed_by(deadline);
  }
  check_usable();
  co_return open_;
}

task<bool> channel::connected_at_once(time_point deadline) {
  bool in_time = true;
  while (in_time && !open_ && !closing_ && useless_.empty() &&
         failed_in_row_ < where_.hosts.size()) {
    in_time = co_await changed_by(deadline);
  }
  check_usable();
  co_return open_;
}

no_server channel::unreachable() const {
  if (!last_failure_.empty()) return no_server(fmt::format("etcd://{}", last_failure_));
  return no_server(fmt::format("{}: does not answer", name()));
}

// The pump --------------------------------------------------------------------------------------

task<void> channel::pump(std::shared_ptr<channel> self) {
  while (!self->closing_ && self->useless_.empty()) {
    const time_point began = self->loop_.now();
    co_await self->connect();
    self->attempts_ = self->loop_.now() - began > short_lived ? 0 : self->attempts_ + 1;
    self->member_ = (self->member_ + 1) % self->where_.hosts.size();
    const bool tried_all = self->attempts_ >= self->where_.hosts.size();
    if (!tried_all || self->closing_) continue;
    self->attempts_ = 0;
    co_await self->poked_.wait_until(self->loop_.now() + between_rounds);
  }
}

// One attempt, and the conversation that comes of it.
task<void> channel::connect() {
  const config::host_port at = where_.hosts[member_];
  grpc_session::listener& hears = *this;
  const auto here = std::make_shared<line>(loop_, where_, at, hears);
  line_ = here;
  const time_point limit = loop_.now() + connect_within;
  const std::error_code error = co_await here->wire.connect(at.host, at.port, limit);
  if (line_ != here) co_return;
  if (error) {
    lose(error == std::errc::timed_out ? "did not answer in time" : error.message());
    co_return;
  }
  tasks_.spawn(see_it_open(shared_from_this(), here, limit));
  flush();
  co_await converse(here);
}

task<void> channel::see_it_open(std::shared_ptr<channel> self, std::shared_ptr<line> here,
                                time_point limit) {
  const bool settled = co_await here->settled.wait_until(limit);
  if (!settled && self->line_ == here) self->lose("did not answer in time");
}

task<void> channel::converse(std::shared_ptr<line> here) {
  while (line_ == here) {
    const received got = co_await here->wire.read_some(here->room, time_point::max());
    if (line_ != here) co_return;
    if (got.error) {
      const bool hung_up = got.error == asio::error::eof;
      const bool perhaps_tls = hung_up && !here->introduced && !where_.secure;
      lose(perhaps_tls ? "closed the connection at once, as one behind TLS would (tls=yes)"
           : hung_up   ? "closed the connection"
                       : got.error.message());
      co_return;
    }
    count_.bytes_in += got.bytes;
    heard_at_ = loop_.now();
    served_ = false;
    const bool sound = here->session.receive({here->room.data(), got.bytes});
    if (!sound || !bad_news_.empty()) {
      const std::string& what = sound ? bad_news_ : here->session.wrong();
      lose(fmt::format("said what no etcd server says: {}", what), rigour::is_final);
      co_return;
    }
    // With every request a server in Go sends a ping, whose answer can wait for what this client
    // has to say: next, if somebody was served, or else with what comes next.
    const bool is_new = here->session.ready() && !std::exchange(here->introduced, true);
    if (is_new) introduced();
    if (served_ || is_new || std::exchange(here->owes, true)) flush_soon();
    if (line_ == here && !here->session.may_start()) lose("is shutting down");
  }
}

void channel::lose(std::string why, rigour how) {
  const auto here = std::exchange(line_, nullptr);
  if (!here) return;
  last_failure_ = fmt::format("{}: {}", config::to_string(where_.hosts[member_]), why);
  const bool was_open = std::exchange(open_, false);
  if (!was_open) ++failed_in_row_;
  if (how == rigour::is_final && (was_open || ++useless_in_row_ >= where_.hosts.size())) {
    useless_ = fmt::format("etcd://{}", last_failure_);
  }
  logging_in_ = false;
  bad_news_.clear();
  here->wire.close();
  here->settled.set();
  for (const auto& [id, call] : std::exchange(calls_, {})) {
    call->id_ = 0;
    call->lost_ = true;
    call->ended_.set();
  }
  for (const auto& [id, t] : std::exchange(talks_, {})) t->on_over(trouble::unknown);
  wake_everybody();
}

void channel::distrust(std::string why) {
  lose(std::move(why));
}

void channel::now_open() {
  open_ = true;
  failed_in_row_ = 0;
  useless_in_row_ = 0;
  if (std::exchange(was_open_, true)) ++count_.reconnects;
  line_->settled.set();
  wake_everybody();
}

// Logging in ------------------------------------------------------------------------------------

void channel::introduced() {
  if (where_.user.empty() || !token_.empty()) return now_open();
  logging_in_ = true;
  tasks_.spawn(log_in(shared_from_this(), line_));
}

// A silent server is seen to by see_it_open, or by the deadlines of those who wait.
task<void> channel::log_in(std::shared_ptr<channel> self, std::shared_ptr<line> here) {
  exchange login{*self};
  const std::string request = login_request(self->where_.user, self->where_.password);
  if (!login.begin(login_path, request)) co_return;
  co_await login.ended_by(time_point::max());
  if (self->line_ != here) co_return;
  const answer said = login.raw();
  const auto token = said.ok() ? read_token(said.body) : std::nullopt;
  if (said.what == trouble::no_login) {
    self->token_.clear();
  } else if (token) {
    self->token_ = *token;
  } else {
    const bool for_good =
        said.ended == answer::ending::answered && !said.refused() && said.what != trouble::unknown;
    const std::string why = said.ok() ? "answered Authenticate with no token" : login.complaint();
    self->lose(why, for_good ? rigour::is_final : rigour::may_be_another);
    co_return;
  }
  self->logging_in_ = false;
  if (self->open_) {
    self->wake_everybody();
  } else {
    self->now_open();
  }
}

task<bool> channel::log_in_again(std::string ended_token, time_point deadline) {
  if (!logging_in_ && token_ == ended_token && open_) {
    logging_in_ = true;
    tasks_.spawn(log_in(shared_from_this(), line_));
  }
  bool in_time = true;
  while (in_time && open_ && token_ == ended_token) in_time = co_await changed_by(deadline);
  check_usable();
  co_return open_&& token_ != ended_token;
}

task<bool> channel::log_in_again(time_point deadline) {
  return log_in_again(token_, deadline);
}

// Writing ---------------------------------------------------------------------------------------

// Calls that are made in one turn of the loop share one write.
void channel::flush_soon() {
  if (std::exchange(flush_posted_, true)) return;
  loop_.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->flush_posted_ = false;
    self->flush();
  });
}

void channel::flush() {
  const auto here = line_;
  if (!here || here->writing) return;
  here->owes = false;
  const std::size_t before = here->out.size();
  here->session.take_output(here->out);
  if (here->out.empty()) return;
  count_.bytes_out += here->out.size() - before;
  std::error_code error;
  const std::size_t written = here->wire.write_now(here->out, error);
  if (error) return lose(error.message());
  here->out.erase(0, written);
  if (here->out.empty()) return;
  here->writing = true;
  tasks_.spawn(write_rest(shared_from_this(), here));
}

task<void> channel::write_rest(std::shared_ptr<channel> self, std::shared_ptr<line> here) {
  const std::error_code error = co_await here->wire.write_all(here->out, time_point::max());
  here->out.clear();
  here->writing = false;
  if (self->line_ != here) co_return;
  if (error) {
    self->lose(error.message());
  } else {
    self->flush();
  }
}

}  // namespace lockmark::etcd
