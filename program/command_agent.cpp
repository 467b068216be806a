// lockmark agent: carries a part of the load of a lockmark on another machine.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>

#include "harness/agents/agent.hpp"
#include "harness/config/quantity.hpp"
#include "program/agents.hpp"
#include "program/build_text.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/execute.hpp"

namespace lockmark::cli {
namespace {

struct agent_command_options {
  std::string join;
  std::string invitation;
  std::string name;
  std::string within = "60s";
  std::string keep = "runs";
  std::string buffer = "256";
};

std::string invitation_text(const std::string& file) {
  if (file == "-") {
    std::string typed;
    std::getline(std::cin, typed);
    return typed;
  }
  if (!file.empty()) return text_of("--invitation", file);
  const char* const word = std::getenv("LOCKMARK_INVITATION");
  if (word != nullptr) return word;
  throw usage_error(
      "--invitation: an agent needs the invitation of its coordinator: a file, - for standard "
      "input, or the variable LOCKMARK_INVITATION");
}

std::string default_name() {
  char host[256] = "agent";
  gethostname(host, sizeof host - 1);
  return fmt::format("{}-{}", host, getpid());
}

int run(const context& c, const agent_command_options& g) {
  interrupts();
  if (g.join.empty()) {
    throw usage_error(
        "--join: expected the ADDRESS:PORT of a coordinator, as lockmark run --agents prints it");
  }
  const auto within = config::parse_duration(g.within);
  if (!within) throw usage_error("--within: {}", within.error().sentence);
  const auto buffer = config::parse_number(g.buffer);
  if (!buffer) throw usage_error("--buffer: {}", buffer.error().sentence);
  if (*buffer <= 0 || *buffer > 1 << 20) {
    throw usage_error("--buffer: expected MiB above 0 and up to 1048576, not '{}'", g.buffer);
  }
  agents::agent_setup s;
  s.buffer_bytes = static_cast<std::size_t>(*buffer * (1 << 20));
  s.join = g.join;
  s.guests = agents::read_invitation(invitation_text(g.invitation));
  s.name = g.name.empty() ? default_name() : g.name;
  s.build = build_text();
  s.within = *within;
  s.keep = g.keep;
  s.lock = [&c](const config::job& job) -> const lock_kind& { return c.known.lock_for(job); };
  s.workload = [&c](const std::string& name) -> const workload_kind& {
    return c.known.workload(name);
  };
  s.interrupts = &interrupts();
  s.tell = [](const std::string& sentence) {
    fmt::print(stderr, "lockmark agent: {}\n", sentence);
  };
  agents::be_agent(real_clock{}, s);
  return 0;
}

}  // namespace

command_action agent_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<agent_command_options>();
  app.add_option("--join", g->join,
                 "ADDRESS:PORT of the coordinator, a lockmark run on another machine")
      ->type_name("ADDRESS:PORT")
      ->envname("LOCKMARK_JOIN");
  declare(app, "--invitation", g->invitation, "FILE",
          "the coordinator's invitation; - for standard input; else LOCKMARK_INVITATION has it");
  declare(app, "--name", g->name, "NAME", "unique among the agents; HOST-PID if not given");
  declare(app, "--keep", g->keep, "DIR",
          "its part of a run is kept in here until the coordinator has all of it");
  declare(app, "--buffer", g->buffer, "MIB",
          "reports that may wait for a slow coordinator; with more, its load ends");
  declare(app, "--within", g->within, "TIME", "how long to try to reach the coordinator");
  app.footer(
      "An agent starts its share of the participants of each run on this machine, and ends with "
      "its\n"
      "coordinator. Exit status: 0 it was dismissed; 2 it was refused, or its coordinator is "
      "gone.\n"
      "Example:\n"
      "  lockmark agent --join 10.0.0.5:7070 --invitation invitation.txt");
  return [c, g] { return run(c, *g); };
}

}  // namespace lockmark::cli
