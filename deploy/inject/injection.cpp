#include "deploy/inject/injection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <functional>

#include "deploy/local/fail_over.hpp"
#include "deploy/local/roles.hpp"
#include "deploy/local/shell.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/redact.hpp"

namespace lockmark::inject {
namespace {

using namespace std::chrono_literals;
using faults::link_mode;

constexpr duration command_limit = 60s;

class local_injection final : public injection {
 public:
  local_injection(reach& what, faults::fault_plan its) : injection(std::move(its)), reach_(what) {}

  task<void> signal(loop& l, int number) override;
  task<void> restart(loop& l, bool keeps_data) override;
  task<void> set_clocks(loop& l, duration ahead) override;
  task<void> set_links(loop& l, link_mode mode, duration by) override;
  task<void> promote(loop& l) override;
  task<void> shell(loop& l, std::string command) override;

 private:
  task<void> for_each_server(loop& l, std::function<void(const std::string&)> act);
  void signal_participant(std::uint32_t which, int number);

  reach& reach_;
};

// By their own thread, since it takes time.
task<void> local_injection::for_each_server(loop& l, std::function<void(const std::string&)> act) {
  if (servers.empty()) co_return;
  task<void> done =
      reach_.servers_thread.run(l, [this, &act] { std::ranges::for_each(servers, act); });
  co_await std::move(done);
}

task<void> local_injection::signal(loop& l, int number) {
  for (const std::uint32_t p : participants) signal_participant(p, number);
  return for_each_server(
      l, [this, number](const std::string& server) { reach_.own->kill(server, number); });
}

void local_injection::signal_participant(std::uint32_t which, int number) {
  faults::participant_control& all = *reach_.participants;
  if (number == SIGCONT) {
    if (all.lives(which)) all.resume(which);
    return;
  }
  began = std::min(began, number == SIGKILL ? all.kill(which) : all.pause(which));
}

task<void> local_injection::restart(loop& l, bool keeps_data) {
  return for_each_server(
      l, [this, keeps_data](const std::string& server) { reach_.own->revive(server, keeps_data); });
}

task<void> local_injection::set_clocks(loop& l, duration ahead) {
  return for_each_server(
      l, [this, ahead](const std::string& server) { reach_.own->jump_clock(server, ahead); });
}

// Replication has no proxies: its servers are told whom to follow.
task<void> local_injection::set_links(loop& l, link_mode mode, duration by) {
  if (plan.who == "replication") {
    const auto set = mode == link_mode::pass ? local::mend_replication : local::cut_replication;
    task<void> done = reach_.servers_thread.run(l, [this, set] { set(reach_.own->info()); });
    co_await std::move(done);
  }
  if (!links.empty()) {
    task<void> change = reach_.clients->proxies().set(l, links, mode, by);
    co_await std::move(change);
  }
  if (!between.empty()) {
    task<void> change = reach_.between->proxies().set(l, between, mode, by);
    co_await std::move(change);
  }
}

task<void> local_injection::promote(loop& l) {
  task<void> moved = reach_.servers_thread.run(l, [this] {
    const auto done = local::fail_over(reach_.own->info(), reach_.key);
    servers = {done.from.empty() ? done.to : fmt::format("{} by {}", done.from, done.to)};
    began = done.ordered;
  });
  co_await std::move(moved);
}

task<void> local_injection::shell(loop& l, std::string command) {
  local::ran said;
  task<void> runs = reach_.commands_thread.run(
      l, [&said, &command] { said = local::run_shell(command, command_limit); });
  co_await std::move(runs);
  if (said.in_time && said.status == 0) co_return;
  const std::string how = said.in_time ? fmt::format("ended with exit status {}", said.status)
                                       : "did not end within 60 s";
  std::ranges::replace(said.output, '\n', ' ');
  throw usage_error("the command '{}' {}{}{}", shown_command(command), how,
                    said.output.empty() ? "" : ": ",
                    without_logins(without_echo(said.output, command)));
}

}  // namespace

std::unique_ptr<injection> new_injection(reach& what, faults::fault_plan plan) {
  return std::make_unique<local_injection>(what, std::move(plan));
}

}  // namespace lockmark::inject
