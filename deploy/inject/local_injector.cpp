#include "deploy/inject/local_injector.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <stdexcept>

#include "deploy/local/fail_over.hpp"
#include "deploy/local/roles.hpp"
#include "deploy/local/shell.hpp"
#include "harness/base/redact.hpp"
#include "harness/driver.hpp"

namespace lockmark::inject {
namespace {

using namespace std::chrono_literals;
using config::fault_kind;
using config::fault_plan;
using faults::active_fault;
using faults::link_mode;

constexpr duration command_limit = 60s;
constexpr duration holder_within = 5s;
constexpr duration look_again = 500us;

// No switch over kinds has a default, so that the compiler reports every switch that misses a new
// kind.
[[noreturn]] void refuse(std::string_view what, fault_kind kind) {
  throw std::logic_error(fmt::format("{} cannot suffer fault {}", what, static_cast<int>(kind)));
}

link_mode mode_of(fault_kind kind) {
  switch (kind) {
    case fault_kind::cut: return link_mode::cut;
    case fault_kind::stall: return link_mode::stall;
    case fault_kind::delay: return link_mode::delay;
    case fault_kind::pause:
    case fault_kind::kill:
    case fault_kind::jump_clock:
    case fault_kind::fail_over:
    case fault_kind::run: break;
  }
  refuse("a link", kind);
}

}  // namespace

local_injector::local_injector(environment where, const std::vector<fault_plan>& plans)
    : where_(std::move(where)) {
  const auto target = config::parse_target(where_.url);
  if (where_.own != nullptr) {
    for (const local::server_info& s : where_.own->servers()) {
      const auto port = static_cast<std::uint16_t>(s.port);
      servers_.push_back({s.name, {"127.0.0.1", port}});
    }
  } else if (target) {
    const auto add = [this](const config::host_port& h) {
      servers_.push_back({fmt::format("{}:{}", h.host, h.port), h});
    };
    std::ranges::for_each(target->hosts, add);
    for (const auto& [name, reached] : target->nat) {
      const bool known = std::ranges::count(servers_, reached, &known_server::address) > 0;
      if (!known) add(reached);
    }
  }
  for (const fault_plan& plan : plans) check(plan);
  if (needs_of(plans).proxies) {
    network_ = std::make_unique<network>(servers_, where_.participants, where_.program);
  }
}

local_injector::~local_injector() = default;

std::string local_injector::url_of(std::uint32_t participant) const {
  return network_ ? network_->url_of(where_.url, participant) : where_.url;
}

// --- targets ---

// By number from 1, or by name.
std::string local_injector::server_named(const std::string& which) const {
  const std::vector<std::string> all = serving();
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (which == fmt::format("{}", n + 1)) return all[n];
  }
  if (std::ranges::count(servers_, which, &known_server::name) > 0) return which;
  throw usage_error(
      fmt::format("faults: there is no server {}; there are {}", which, fmt::join(all, ", ")));
}

// The two ends of "link 1 redis-2".
std::vector<std::string> local_injector::ends_of(const fault_plan& plan) const {
  const auto first = plan.who.find(' ') + 1;
  const auto second = plan.who.rfind(' ') + 1;
  return {server_named(plan.who.substr(first, second - 1 - first)),
          server_named(plan.who.substr(second))};
}

// Queries the servers if the plan names a role: blocks. Never empty.
std::vector<std::string> local_injector::find_servers(const fault_plan& plan) const {
  const std::vector<std::string> all = serving();
  const auto first = [&all](std::size_t count) {
    return std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  };
  if (plan.who == "servers") return all;
  if (plan.who == "majority") return first(all.size() / 2 + 1);
  if (plan.who == "minority") return first(std::max<std::size_t>(1, (all.size() - 1) / 2));
  if (plan.who.starts_with("server ")) return {server_named(plan.who.substr(7))};
  if (config::hits_one_link(plan)) return ends_of(plan);
  const local::cluster_info& info = where_.own->info();
  std::vector<std::string> found;
  if (plan.who == "replicas") {
    found = local::followers(info);
  } else if (info.topology == "redis-cluster") {
    found = {local::owner_of(info, where_.key)};
  } else {
    found = local::leaders(info);
    if (found.size() > 1) found.resize(1);
  }
  if (found.empty() || found[0].empty()) {
    throw no_server(fmt::format("no server says that it is the {} now", plan.who));
  }
  return found;
}

task<std::vector<std::uint32_t>> local_injector::find_participants(loop& l, std::string who,
                                                                   std::ptrdiff_t held) {
  std::vector<std::uint32_t> found;
  if (who.starts_with("participant ")) found.push_back(participant_in(who));
  for (std::uint32_t p = 0; who == "participants" && p < participants_->count(); ++p) {
    if (participants_->lives(p)) found.push_back(p);
  }
  if (who == "holder" && held >= 0) {
    found.push_back(network_->owner_of(static_cast<std::size_t>(held)));
  }
  const time_point deadline = l.now() + holder_within;
  while (found.empty() && l.now() < deadline) {
    for (std::uint32_t p = 0; found.empty() && p < participants_->count(); ++p) {
      if (participants_->lives(p) && participants_->holding(p) > 0) found.push_back(p);
    }
    if (found.empty()) co_await l.sleep_for(look_again);
  }
  if (found.empty()) throw no_server("nobody has held a key for 5 s, so there was no holder");
  co_return found;
}

// --- awaited requests ---

task<bool> local_injector::awaited(loop& l, fault_plan plan, time_point deadline) {
  network::link_list links;
  for (std::uint32_t p = 0; p < where_.participants; ++p) {
    if (plan.who.starts_with("participant ") && participant_in(plan.who) != p) continue;
    const network::link_list its = network_->links_of(p);
    links.insert(links.end(), its.begin(), its.end());
  }
  // A client told that it has the lock is the holder, before anybody else knows.
  const bool of_holder = plan.who == "holder" && plan.answered.empty();
  std::uint64_t left = of_holder ? plan.nth : 1;
  while (!stopping_) {
    task<std::ptrdiff_t> answer = network_->proxies().await(
        l, links, plan.on, of_holder ? 1 : plan.nth, deadline, plan.answered);
    const std::ptrdiff_t hit = co_await std::move(answer);
    if (hit < 0) break;
    const auto link = static_cast<std::size_t>(hit);
    if (!of_holder || !others_hold(network_->owner_of(link))) --left;
    if (left == 0) {
      held_.emplace_back(plan, link);
      co_return true;
    }
    network::link_list its{link};
    task<void> release = network_->proxies().go(l, std::move(its));
    co_await std::move(release);
  }
  co_return false;
}

// While another participant holds a key, a request is not the holder's: it is a vain attempt.
bool local_injector::others_hold(std::uint32_t participant) const {
  for (std::uint32_t p = 0; participants_ != nullptr && p < participants_->count(); ++p) {
    if (p != participant && participants_->lives(p) && participants_->holding(p) > 0) return true;
  }
  return false;
}

void local_injector::stop_waiting() noexcept {
  stopping_ = true;
  if (network_) network_->proxies().stop_waiting();
}

std::ptrdiff_t local_injector::take_held(const fault_plan& plan) {
  const auto found = std::ranges::find(held_, plan, &std::pair<fault_plan, std::size_t>::first);
  if (plan.on.empty() || found == held_.end()) return -1;
  const auto link = static_cast<std::ptrdiff_t>(found->second);
  held_.erase(found);
  return link;
}

// --- begin ---

task<active_fault> local_injector::begin(loop& l, fault_plan plan) {
  const int handle = ++last_handle_;
  injection& at = on_[handle];  // before it takes effect: half-done faults are healed too
  at.plan = plan;
  const std::ptrdiff_t held = take_held(plan);
  std::exception_ptr failure;
  active_fault made;
  made.handle = handle;
  try {
    task<time_point> starting =
        config::hits_participants(plan) ? hit_participants(l, &at, held) : inject(l, &at);
    made.began = co_await std::move(starting);
  } catch (...) {
    failure = std::current_exception();
  }
  if (held >= 0) {
    network::link_list links{static_cast<std::size_t>(held)};
    task<void> release = network_->proxies().go(l, std::move(links));
    co_await std::move(release);
  }
  if (failure) std::rethrow_exception(failure);
  if (at.participants.size() == 1) made.participant = at.participants.front();
  made.whom = fmt::format("{}", fmt::join(at.servers, ", "));
  for (const std::uint32_t p : at.participants) {
    made.whom += fmt::format("{}participant {}", made.whom.empty() ? "" : ", ", p + 1);
  }
  co_return made;
}

task<time_point> local_injector::inject(loop& l, injection* at) {
  const time_point began = l.now();
  if (at->plan.what == fault_kind::run) {
    task<void> ran = command(l, at->plan.command);
    co_await std::move(ran);
    co_return began;
  }
  if (at->plan.who == "replication") {
    task<void> cut = servers_thread_.run(l, [this] { local::cut_replication(where_.own->info()); });
    co_await std::move(cut);
    co_return began;
  }
  if (at->plan.what == fault_kind::fail_over) {
    time_point ordered{};
    task<void> moved = servers_thread_.run(l, [&] { ordered = fail_over(at); });
    co_await std::move(moved);
    co_return ordered;
  }
  task<void> search = servers_thread_.run(l, [this, at] { at->servers = find_servers(at->plan); });
  co_await std::move(search);
  task<time_point> starting = hit_servers(l, at);
  const time_point stamp = co_await std::move(starting);
  co_return stamp;
}

task<time_point> local_injector::hit_servers(loop& l, injection* at) {
  const fault_plan& plan = at->plan;
  if (!plan.with.empty()) {
    task<std::vector<std::uint32_t>> search = find_participants(l, plan.with, -1);
    at->participants = co_await std::move(search);
  }
  const time_point began = l.now();
  if (config::is_of_links(plan.what)) {
    if (config::hits_one_link(plan)) {
      at->between = where_.between->joining(at->servers[0], at->servers[1]);
    } else {
      at->links = network_->links_across(at->servers, at->participants);
      if (partitions()) at->between = where_.between->across(at->servers);
    }
    task<void> hurt = set_links(l, at, false);
    co_await std::move(hurt);
  } else {
    task<void> hurt = servers_thread_.run(l, [this, at] { hit_process(*at); });
    co_await std::move(hurt);
  }
  co_return began;
}

task<time_point> local_injector::hit_participants(loop& l, injection* at, std::ptrdiff_t held) {
  if (participants_ == nullptr) throw usage_error("faults: no participants are there to be hit");
  task<std::vector<std::uint32_t>> search = find_participants(l, at->plan.who, held);
  at->participants = co_await std::move(search);
  time_point began = l.now();
  for (const std::uint32_t p : at->participants) {
    if (config::is_of_links(at->plan.what)) {
      const network::link_list its = network_->links_of(p);
      at->links.insert(at->links.end(), its.begin(), its.end());
    } else {
      const bool kills = at->plan.what == fault_kind::kill;
      began = std::min(began, kills ? participants_->kill(p) : participants_->pause(p));
    }
  }
  if (!at->links.empty()) {
    task<void> hurt = set_links(l, at, false);
    co_await std::move(hurt);
  }
  co_return began;
}

task<void> local_injector::set_links(loop& l, injection* at, bool healthy) {
  const link_mode mode = healthy ? link_mode::pass : mode_of(at->plan.what);
  const duration by = healthy ? duration{} : at->plan.by;
  if (!at->links.empty()) {
    task<void> change = network_->proxies().set(l, at->links, mode, by);
    co_await std::move(change);
  }
  if (!at->between.empty()) {
    task<void> change = where_.between->proxies().set(l, at->between, mode, by);
    co_await std::move(change);
  }
}

void local_injector::hit_process(const injection& at) {
  for (const std::string& server : at.servers) {
    switch (at.plan.what) {
      case fault_kind::pause: where_.own->kill(server, SIGSTOP); break;
      case fault_kind::kill: where_.own->kill(server, SIGKILL); break;
      case fault_kind::jump_clock: where_.own->jump_clock(server, at.plan.by); break;
      case fault_kind::cut:
      case fault_kind::stall:
      case fault_kind::delay:
      case fault_kind::fail_over:
      case fault_kind::run: refuse("a server", at.plan.what);
    }
  }
}

// Nothing to heal: the new leader stays.
time_point local_injector::fail_over(injection* at) {
  const auto done = local::fail_over(where_.own->info(), where_.key);
  at->servers = {done.from.empty() ? done.to : fmt::format("{} by {}", done.from, done.to)};
  return done.ordered;
}

// --- healing ---

task<void> local_injector::end(loop& l, fault_plan, active_fault which) {
  const auto found = on_.find(which.handle);
  if (found == on_.end()) co_return;
  injection at = std::move(found->second);
  on_.erase(found);
  task<void> healing = heal(l, &at);
  co_await std::move(healing);
}

task<void> local_injector::heal(loop& l, injection* at) {
  if (!at->plan.undo.empty()) {
    task<void> undone = command(l, at->plan.undo);
    co_await std::move(undone);
  }
  if (at->plan.who == "replication") {
    task<void> mended =
        servers_thread_.run(l, [this] { local::mend_replication(where_.own->info()); });
    co_await std::move(mended);
  }
  if (!at->links.empty() || !at->between.empty()) {
    task<void> healed = set_links(l, at, true);
    co_await std::move(healed);
    co_return;
  }
  for (const std::uint32_t p : at->participants) {
    if (at->plan.what == fault_kind::pause && participants_->lives(p)) participants_->resume(p);
  }
  if (at->servers.empty()) co_return;
  task<void> healed = servers_thread_.run(l, [this, at] { heal_process(*at); });
  co_await std::move(healed);
}

void local_injector::heal_process(const injection& at) {
  for (const std::string& server : at.servers) {
    switch (at.plan.what) {
      case fault_kind::pause: where_.own->kill(server, SIGCONT); break;
      case fault_kind::kill: where_.own->revive(server, at.plan.keeps_data); break;
      case fault_kind::jump_clock: where_.own->jump_clock(server, 0ns); break;
      case fault_kind::cut:
      case fault_kind::stall:
      case fault_kind::delay:
      case fault_kind::fail_over:
      case fault_kind::run: break;  // links, or no target: nothing to heal
    }
  }
}

task<void> local_injector::end_all(loop& l) {
  while (!on_.empty()) {
    injection at = std::move(on_.begin()->second);
    on_.erase(on_.begin());
    try {
      task<void> healing = heal(l, &at);
      co_await std::move(healing);
    } catch (const std::exception&) {
      // The run is over, and its own ending reports the trouble.
    }
  }
  while (!held_.empty()) {
    network::link_list links{held_.back().second};
    held_.pop_back();
    try {
      task<void> release = network_->proxies().go(l, std::move(links));
      co_await std::move(release);
    } catch (const std::exception&) {
      // Dead proxies hold nothing back.
    }
  }
}

std::string local_injector::trouble() const {
  if (!network_ || network_->proxies().lives()) return {};
  return "the proxies that lockmark had put between the clients and the servers have died, so that "
         "what came after says nothing of the lock or its servers";
}

task<void> local_injector::command(loop& l, std::string text) {
  local::ran said;
  task<void> runs =
      commands_thread_.run(l, [&said, &text] { said = local::run_shell(text, command_limit); });
  co_await std::move(runs);
  if (said.in_time && said.status == 0) co_return;
  const std::string how = said.in_time ? fmt::format("ended with exit status {}", said.status)
                                       : "did not end within 60 s";
  std::ranges::replace(said.output, '\n', ' ');
  throw usage_error(fmt::format("the command '{}' {}{}{}", shown_command(text), how,
                                said.output.empty() ? "" : ": ",
                                without_logins(without_echo(said.output, text))));
}

}  // namespace lockmark::inject
