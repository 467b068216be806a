// The half of a connection that knows a Cluster: the choice of a node for each command, and the
// answers of nodes that do not execute it. Source of the rules: the Redis Cluster specification.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "drivers/redis/connection.hpp"
#include "drivers/redis/slot.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;

constexpr duration between_attempts = 100ms;
// The keys of one command are apart for some milliseconds while their slot moves.
constexpr duration until_keys_are_together = 10ms;
// The time that a Cluster may report itself as down.
constexpr duration patience_with_a_cluster = 1s;
// Two nodes that redirect to each other do not agree yet.
constexpr unsigned turns_without_rest = 5;
// Far more than one Cluster can name during a run.
constexpr std::size_t most_nodes = 4096;

}  // namespace

std::string_view routing_key(std::string_view command) {
  const bool is_script = name_of_command(command).starts_with("EVAL");
  return word_of(command, is_script ? 3 : 1);
}

link& connection::node(const host_port& at) {
  for (const auto& l : nodes_) {
    if (l->at() == at) return *l;
  }
  if (nodes_.size() == most_nodes) {
    throw no_server(
        fmt::format("{} has named more than {} different nodes", at_->where().name(), most_nodes));
  }
  nodes_.push_back(std::make_unique<link>(loop_, at_->where(), count_));
  nodes_.back()->aim_at(at);
  return *nodes_.back();
}

link* connection::serving(std::uint16_t slot) {
  const host_port* const at = at_->master_of(slot);
  return at == nullptr ? nullptr : &node(*at);
}

// Looks for the slot's master again before it reconnects to a node that has failed: every call
// would wait for a paused node until its deadline, although another may have taken over the slot.
task<link*> connection::still_serving(std::uint16_t slot, time_point deadline) {
  link* const l = serving(slot);
  if (l == nullptr || l->is_open() || !l->is_troubled() || !at_->is_due()) co_return l;
  at_->suspect(l->at());
  co_await at_->look(deadline);
  co_return serving(slot);
}

// Tells the node that the next command is meant for it, although another still owns the slot.
task<std::error_code> connection::announce(link& to, time_point deadline) {
  std::error_code error;
  if (!to.is_open()) error = co_await to.open(deadline);
  if (error) co_return error;
  std::string asking;
  append_command(asking, "ASKING");
  error = to.write_now(asking, 1);
  if (!error) ++to.owed();
  co_return error;
}

task<outcome<reply>> connection::exchange_routed(time_limit until, const script* fallback,
                                                 errors treatment) {
  const std::uint16_t slot = slot_of(routing_key(out_));
  route r{.next = serving(slot)};
  if (r.next == nullptr || !r.next->is_open()) r.next = co_await still_serving(slot, until.begin);
  while (true) {
    outcome<reply> said{refusal::unavailable};
    if (r.next != nullptr) {
      if (r.asking) co_await announce(*r.next, until.begin);
      said = co_await exchange_on(*r.next, until, fallback, errors::are_answers);
      last_ = r.next;
    }
    const bool executed = said.in_doubt() || (said.done() && !said.value().is(reply::kind::error));
    if (said.done() && executed && treatment == errors::throw_them) {
      demand_shape(*last_, said.value());
    }
    const bool too_late = said.refused() && loop_.now() >= until.begin;
    if (executed || too_late) co_return said;
    if (said.done() && fallback != nullptr && said.value().is_error("NOSCRIPT")) {
      out_ = as_eval(out_, *std::exchange(fallback, nullptr));
      continue;
    }
    const bool is_known = r.next != nullptr;
    r.next = nullptr;
    const bool again = co_await go_on(r, said, until.begin);
    if (again) {
      if (r.next == nullptr) r.next = serving(slot);
      continue;
    }
    if (!said.done()) {
      if (is_known) co_return said;
      co_return refusal::unavailable;
    }
    if (treatment == errors::are_answers) co_return said;
    co_return judged(*last_, said.value());
  }
}

// False: not enough time.
task<bool> connection::pause(duration how_long, time_point deadline) {
  if (loop_.now() + how_long >= deadline) co_return false;
  co_await loop_.sleep_for(how_long);
  co_return true;
}

// False: `said` is the ending.
task<bool> connection::go_on(route& r, const outcome<reply>& said, time_point deadline) {
  r.asking = false;
  if (++r.turns > turns_without_rest) {
    const bool in_time = co_await pause(until_keys_are_together, deadline);
    if (!in_time) co_return false;
  }
  const std::string_view text = said.done() ? std::string_view{said.value().text} : "";
  const auto redirected = parse_redirection(text, last_->at());
  if (redirected) {
    const redirection to = at_->understood(*redirected);
    r.asking = to.what == redirection::kind::ask;
    r.next = &node(to.to);
    if (!r.asking && at_->learn(to)) co_await at_->look(deadline);
    co_return true;
  }
  if (text.starts_with("TRYAGAIN")) co_return co_await pause(until_keys_are_together, deadline);
  const bool is_no_more = said.done() && is_no_master(said.value());
  if (said.done() && !is_no_more && !text.starts_with("CLUSTERDOWN")) co_return false;
  // No node, or no longer the master: another node takes over once the Cluster has agreed.
  if (is_no_more) last_->close();
  if (r.give_up == time_point::max()) r.give_up = loop_.now() + patience_with_a_cluster;
  const time_point limit = said.done() ? std::min(deadline, r.give_up) : deadline;
  const bool in_time = co_await pause(between_attempts, limit);
  if (!in_time) co_return false;
  co_await at_->look(limit);
  co_return true;
}

}  // namespace lockmark::redis
