#include "deploy/inject/local_injector.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "deploy/local/roles.hpp"
#include "deploy/local/versions.hpp"
#include "harness/base/lists.hpp"
#include "harness/driver.hpp"

namespace lockmark::inject {
namespace {

using namespace std::chrono_literals;
using faults::active_fault;
using faults::fault_plan;

constexpr duration holder_within = 5s;
constexpr duration look_again = 500us;

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
  if (needs_of(plans).proxies || where_.latency.least > 0ns) {
    network_ =
        std::make_unique<network>(servers_, where_.participants, where_.program, where_.latency);
  }
  reach_.own = where_.own;
  reach_.between = where_.between;
  reach_.clients = network_.get();
  reach_.key = where_.key;
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
  throw usage_error("faults: there is no server {}; there are {}", which, fmt::join(all, ", "));
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
  if (faults::hits_one_link(plan)) return ends_of(plan);
  const local::cluster_info& info = where_.own->info();
  std::vector<std::string> found;
  if (plan.who == "replica" || plan.who == "replicas") {
    found = local::followers(info);
    if (plan.who == "replica" && found.size() > 1) found.resize(1);
  } else if (local::kind_of(info.topology) == "redis-cluster") {
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
  for (std::uint32_t p = 0; who == "participants" && p < reach_.participants->count(); ++p) {
    if (reach_.participants->lives(p)) found.push_back(p);
  }
  if (who == "holder" && held >= 0) {
    found.push_back(network_->owner_of(static_cast<std::size_t>(held)));
  }
  const time_point deadline = l.now() + holder_within;
  while (found.empty() && l.now() < deadline) {
    for (std::uint32_t p = 0; found.empty() && p < reach_.participants->count(); ++p) {
      if (reach_.participants->lives(p) && reach_.participants->holding(p) > 0) found.push_back(p);
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
    co_await let_go(l, link);
  }
  co_return false;
}

// While another participant holds a key, a request is not the holder's: it is a vain attempt.
bool local_injector::others_hold(std::uint32_t participant) const {
  for (std::uint32_t p = 0; reach_.participants != nullptr && p < reach_.participants->count();
       ++p) {
    if (p != participant && reach_.participants->lives(p) && reach_.participants->holding(p) > 0)
      return true;
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

task<void> local_injector::let_go(loop& l, std::size_t link) {
  return network_->proxies().go(l, {link});
}

// --- begin ---

task<active_fault> local_injector::begin(loop& l, fault_plan plan) {
  const int handle = ++last_handle_;
  // In the map before it takes effect: half-done faults are undone too.
  injection& at = *on_.try_emplace(handle, new_injection(reach_, std::move(plan))).first->second;
  const std::ptrdiff_t held = take_held(at.plan);
  std::exception_ptr failure;
  try {
    task<void> aiming = aim(l, &at, held);
    co_await std::move(aiming);
    at.began = l.now();
    task<void> starting = at.plan.what->inject(l, at.plan, at);
    co_await std::move(starting);
  } catch (...) {
    failure = std::current_exception();
  }
  if (held >= 0) {
    co_await let_go(l, static_cast<std::size_t>(held));
  }
  if (failure) std::rethrow_exception(failure);
  active_fault made;
  made.handle = handle;
  made.began = at.began;
  if (at.participants.size() == 1) made.participant = at.participants.front();
  std::vector<std::string> whom = at.servers;
  for (const std::uint32_t p : at.participants)
    whom.push_back(fmt::format("participant {}", p + 1));
  made.whom = joined(whom);
  co_return made;
}

// Replication needs no search, and a promotion finds its servers itself.
task<void> local_injector::aim(loop& l, injection* at, std::ptrdiff_t held) {
  const fault_plan& plan = at->plan;
  const bool finds_itself = plan.who.empty() || plan.who == "replication";
  if (finds_itself || needs_of({plan}).promotion) co_return;
  task<void> aiming =
      faults::hits_participants(plan) ? aim_at_participants(l, at, held) : aim_at_servers(l, at);
  co_await std::move(aiming);
}

task<void> local_injector::aim_at_servers(loop& l, injection* at) {
  const fault_plan& plan = at->plan;
  task<void> search =
      reach_.servers_thread.run(l, [this, at] { at->servers = find_servers(at->plan); });
  co_await std::move(search);
  if (!plan.with.empty()) {
    task<std::vector<std::uint32_t>> company = find_participants(l, plan.with, -1);
    at->participants = co_await std::move(company);
  }
  if (!plan.what->of_links()) co_return;
  if (faults::hits_one_link(plan)) {
    at->between = where_.between->joining(at->servers[0], at->servers[1]);
    co_return;
  }
  at->links = network_->links_across(at->servers, at->participants);
  if (partitions()) at->between = where_.between->across(at->servers);
}

task<void> local_injector::aim_at_participants(loop& l, injection* at, std::ptrdiff_t held) {
  if (reach_.participants == nullptr) {
    throw usage_error("faults: no participants are there to be hit");
  }
  task<std::vector<std::uint32_t>> search = find_participants(l, at->plan.who, held);
  at->participants = co_await std::move(search);
  if (!at->plan.what->of_links()) co_return;
  for (const std::uint32_t p : at->participants) {
    const network::link_list its = network_->links_of(p);
    at->links.insert(at->links.end(), its.begin(), its.end());
  }
}

// --- end ---

task<void> local_injector::end(loop& l, fault_plan, active_fault which) {
  const auto ended = on_.extract(which.handle);
  if (ended.empty()) co_return;
  injection& at = *ended.mapped();
  task<void> undoing = at.plan.what->undo(l, at.plan, at);
  co_await std::move(undoing);
}

task<void> local_injector::end_all(loop& l) {
  while (!on_.empty()) {
    const auto ended = on_.extract(on_.begin());
    injection& at = *ended.mapped();
    try {
      task<void> undoing = at.plan.what->undo(l, at.plan, at);
      co_await std::move(undoing);
    } catch (const std::exception&) {
      // The run is over, and its own ending reports the trouble.
    }
  }
  while (!held_.empty()) {
    const std::size_t link = held_.back().second;
    held_.pop_back();
    try {
      co_await let_go(l, link);
    } catch (const std::exception&) {
      // Dead proxies hold nothing back.
    }
  }
}

std::int64_t local_injector::proxies_cpu_ns() const {
  return network_ ? process_cpu_ns(network_->proxies().pid()) : 0;
}

std::string local_injector::trouble() const {
  if (!network_ || network_->proxies().lives()) return {};
  return "the proxies that lockmark had put between the clients and the servers have died, so that "
         "what came after says nothing of the lock or its servers";
}

}  // namespace lockmark::inject
