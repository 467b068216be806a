#include "drivers/redis/topology_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "drivers/redis/replies.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;
using form = target::form;

// The longest wait for one server while there are others to ask.
constexpr duration patience_for_one = 500ms;
constexpr duration between_looks = 200ms;
// Between two searches for a master, when there may be none.
constexpr duration between_searches = 200ms;
// A server that the sentinels still name may have vanished.
constexpr duration patience_to_connect = 1s;

}  // namespace

topology_cache::topology_cache(loop& l, const target& where, traffic& count)
    : loop_(l), where_(where), count_(count), first_asked_(where.hosts) {
  for (host_port& h : first_asked_) h = where.reached_at(h);
}

task<bool> topology_cache::look(time_point deadline) {
  if (!looking_) {
    looking_ = true;
    co_await look_for_all(deadline);
    looking_ = false;
    for (signal* s : std::exchange(waiting_, {})) s->set();
    if (found_ && listener_) listener_();
    co_return found_;
  }
  signal done{loop_};
  waiting_.push_back(&done);
  const bool ended = co_await done.wait_until(deadline);
  std::erase(waiting_, &done);
  co_return ended&& found_;
}

task<void> topology_cache::look_for_all(time_point deadline) {
  found_ = false;
  const std::vector<host_port> hosts = hosts_to_ask();
  for (const host_port& h : hosts) {
    if (loop_.now() >= deadline) break;
    found_ = co_await ask(h, std::min(deadline, loop_.now() + patience_for_one));
    if (!found_) continue;
    const auto at = std::ranges::find(first_asked_, h);
    if (at != first_asked_.end()) std::rotate(first_asked_.begin(), at, at + 1);
    break;
  }
  next_look_ = loop_.now() + between_looks;
}

// A Cluster's masters know best; its first nodes may all have been replaced.
std::vector<host_port> topology_cache::hosts_to_ask() const {
  std::vector<host_port> hosts = map_.masters();
  for (const host_port& h : first_asked_) {
    if (std::ranges::find(hosts, h) == hosts.end()) hosts.push_back(h);
  }
  std::ranges::stable_partition(hosts, [this](const host_port& h) { return h != suspect_; });
  return hosts;
}

task<bool> topology_cache::ask(host_port at, time_point deadline) {
  const bool of_sentinel = where_.how == form::sentinel;
  link asked{loop_, where_, count_, of_sentinel ? link::server::sentinel : link::server::redis};
  asked.aim_at(at);
  std::string question;
  if (of_sentinel) {
    append_command(question, "SENTINEL", "get-master-addr-by-name", where_.path);
  } else {
    append_command(question, "CLUSTER", "SLOTS");
  }
  reply said;
  std::error_code error;
  try {
    error = co_await asked.open(deadline);
    if (!error) error = co_await asked.ask(question, said, deadline);
    if (!error && !of_sentinel && !knows_the_cluster()) {
      co_await ask_about_messages(asked, deadline);
    }
  } catch (const no_server& refused) {
    reason_ = refused.what();
    co_return false;
  }
  if (!error) co_return understand(said, at);
  reason_ = fmt::format("{}: nobody could be asked; {}:{}, the last, {}", where_.name(), at.host,
                        at.port, predicate(error));
  co_return false;
}

// Once, by the same command as Redisson's client.
task<void> topology_cache::ask_about_messages(link& asked, time_point deadline) {
  std::string question;
  append_command(question, "PUBSUB", "SHARDNUMSUB");
  reply said;
  const std::error_code error = co_await asked.ask(question, said, deadline);
  shards_messages_ = !error && said.is(reply::kind::array);
}

bool topology_cache::understand(const reply& said, const host_port& from) {
  if (where_.how == form::sentinel) {
    const auto address = parse_master_address(said);
    if (address) {
      master_ = where_.reached_at(*address);
      return true;
    }
    reason_ = said.is(reply::kind::error)
                  ? fmt::format("{}: a sentinel answered with an error: {}", where_.name(),
                                excerpt(said.text))
                  : fmt::format("{}: its sentinels know no master of that name", where_.name());
    return false;
  }
  if (map_.read(said, from, where_.nat)) return true;
  reason_ = fmt::format("{}: {}:{} is no node of a Cluster with slots{}{}", where_.name(),
                        from.host, from.port, said.text.empty() ? "" : ": ", excerpt(said.text));
  return false;
}

task<std::error_code> topology_cache::open_master(link& l, time_point deadline) {
  while (true) {
    std::error_code error = std::make_error_code(std::errc::timed_out);
    const bool named = co_await look(deadline);
    if (named) {
      l.aim_at(master_);
      error = co_await l.open(std::min(deadline, loop_.now() + patience_to_connect));
      if (!error) error = co_await confirm_master(l, deadline);
      if (!error) co_return error;
    }
    if (loop_.now() + between_searches >= deadline) co_return error;
    co_await loop_.sleep_for(between_searches);
  }
}

// A login without the right to ROLE has to trust the sentinels.
task<std::error_code> topology_cache::confirm_master(link& l, time_point deadline) {
  std::string question;
  append_command(question, "ROLE");
  reply role;
  const std::error_code error = co_await l.ask(question, role, deadline);
  if (error || is_master(role) || role.is_error("NOPERM")) co_return error;
  l.close();
  reason_ = fmt::format("{}: {}:{}, which its sentinels name, is no master", where_.name(),
                        master_.host, master_.port);
  co_return std::make_error_code(std::errc::permission_denied);
}

}  // namespace lockmark::redis
