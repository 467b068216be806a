#include "program/agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>

#include "harness/agents/coordinator.hpp"
#include "harness/base/files.hpp"
#include "harness/base/redact.hpp"
#include "harness/config/parsed.hpp"
#include "harness/config/quantity.hpp"
#include "program/build_text.hpp"
#include "program/declare.hpp"
#include "program/execute.hpp"
#include "program/launched.hpp"

namespace lockmark::cli {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> all;
  std::string_view rest = list;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    if (comma > 0) all.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return all;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1" || host.starts_with("127.");
}

std::string this_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a host does with the invitation, a line, and the program that follows it. The quotes are
// those of the shell that the user has there, of whatever kind.
std::string brought_program(const std::string& arguments) {
  return fmt::format(
      "sh -c 'read -r invitation && umask 077 && folder=$(mktemp -d) && "
      "trap \"rm -rf $folder\" EXIT && cat >\"$folder/lockmark\" && "
      "chmod 700 \"$folder/lockmark\" && "
      "printf \"%s\\n\" \"$invitation\" | \"$folder/lockmark\" {}'",
      arguments);
}

class gathered final : public agent_group {
 public:
  gathered(const agent_options& asked, bool quiet)
      : asked_(asked), quiet_(quiet), coordinator_(std::in_place, clock_, setup_of(asked)) {
    launch();
    invite();
    coordinator_->wait(interrupts(), [this] { return why_none_will_come(); });
  }
  ~gathered() override {
    coordinator_.reset();  // dismisses the agents
    wait_for(launched_);
  }

  std::uint64_t participants_for(const config::job& job) const override {
    const auto links = coordinator_->links();
    std::uint64_t each = 1'000;
    for (const agents::agent_link* l : links) {
      const double cores = std::floor(l->facts().cores);
      each = std::min(each, static_cast<std::uint64_t>(std::max(1.0, cores - 1)));
    }
    return std::max<std::uint64_t>(links.size(), std::min(job.instances, each * links.size()));
  }

  std::unique_ptr<run::separate_pool> make_pool(const run::process_pool_setup& who) override {
    return coordinator_->make_pool(who);
  }

 private:
  agents::coordinator_setup setup_of(const agent_options& asked) const {
    agents::coordinator_setup s;
    s.agents = asked.agents;
    if (!asked.listen.empty()) s.listen = asked.listen;
    const auto within = config::parse_duration(asked.within);
    if (!within) throw usage_error("--agents-within: {}", within.error().sentence);
    s.within = *within;
    s.build = build_text();
    if (!asked.identity.empty()) {
      s.who = agents::read_identity(text_of("--identity", asked.identity),
                                    fmt::format("--identity: {}", asked.identity));
    }
    s.tell = [quiet = quiet_](const std::string& sentence) {
      if (!quiet) fmt::print(stderr, "lockmark: {}\n", sentence);
    };
    return s;
  }

  // Each knows where to go, and by whom it was invited. The coordinator listens already: an agent
  // that cannot reach it soon never will, or comes too late.
  void launch() {
    const std::string join = coordinator_->address(), word = coordinator_->invitation_text();
    const std::string input = word + "\n" + (asked_.send_binary ? this_program() : "");
    for (const std::string& host : split(asked_.hosts)) {
      const std::string arguments =
          fmt::format("agent --join {} --name {} --within 10s --invitation -", join, host);
      launched_.push_back(std::make_unique<launched>(
          fmt::format("ssh {}", host),
          std::vector<std::string>{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", host,
                                   asked_.send_binary
                                       ? brought_program(arguments)
                                       : fmt::format("{} {}", asked_.remote_program, arguments)},
          std::map<std::string, std::string>{}, input));
    }
    if (asked_.launch.empty()) return;
    launched_.push_back(std::make_unique<launched>(
        shown_command(asked_.launch), std::vector<std::string>{"sh", "-c", asked_.launch},
        std::map<std::string, std::string>{{"LOCKMARK_JOIN", join}, {"LOCKMARK_INVITATION", word}},
        ""));
  }

  // For agents that others start.
  void invite() const {
    const std::string word = coordinator_->invitation_text();
    if (!asked_.invitation.empty()) {
      write_whole_file(asked_.invitation, word + "\n");
    }
    if (quiet_ || !launched_.empty()) return;
    fmt::print(stderr,
               "lockmark: waiting {} for {} agent{}; on each machine that is to carry load:\n"
               "  lockmark agent --join {} --invitation {}\n",
               asked_.within, asked_.agents, asked_.agents == 1 ? "" : "s", coordinator_->address(),
               asked_.invitation.empty() ? "FILE" : asked_.invitation);
    if (!asked_.invitation.empty()) return;
    // A word that was made ahead is kept somewhere, and what is printed may be, too.
    if (!asked_.identity.empty()) {
      fmt::print(stderr, "where FILE is the invitation that was made with the identity\n");
    } else {
      fmt::print(stderr, "where FILE has this word:\n  {}\n", word);
    }
  }

  std::string why_none_will_come() {
    for (const auto& one : launched_) {
      if (!asked_.hosts.empty() && !asked_.send_binary && one->found_no_program()) {
        return fmt::format(
            "a host has no {} on its PATH; --remote-program says where it is, --send-binary brings "
            "it along",
            asked_.remote_program);
      }
      if (const auto how = one->failed()) return *how;
    }
    return {};
  }

  const agent_options asked_;
  const bool quiet_;
  const real_clock clock_;
  std::vector<std::unique_ptr<launched>> launched_;
  std::optional<agents::coordinator> coordinator_;
};

bool asks_for_agents(const agent_options& asked) {
  return asked.agents != 0 || !asked.hosts.empty() || !asked.launch.empty() ||
         !asked.listen.empty() || !asked.identity.empty();
}

void check(agent_options& asked) {
  const auto hosts = static_cast<std::uint32_t>(split(asked.hosts).size());
  if (hosts > 0 && !asked.launch.empty()) throw usage_error("--hosts and --launch: one of them");
  if (hosts > 0 && asked.agents != 0 && asked.agents != hosts) {
    throw usage_error("--agents {}: there are {} in --hosts", asked.agents, hosts);
  }
  if (hosts > 0) asked.agents = hosts;
  if (asked.send_binary && hosts == 0) throw usage_error("--send-binary: to what --hosts?");
  if (asked.agents == 0) {
    throw usage_error(
        "--launch, --listen and --identity need --agents N: how many agents to wait for");
  }
  if (!asked.listen.empty() && asked.listen.rfind(':') == std::string::npos) {
    throw usage_error("--listen: expected ADDRESS:PORT, as 10.0.0.5:7070 or 10.0.0.5:0, not '{}'",
                      asked.listen);
  }
  const bool all_here = std::ranges::all_of(split(asked.hosts), is_loopback);
  if (hosts > 0 && !all_here && asked.listen.empty()) {
    throw usage_error(
        "--hosts: agents on other machines need an address of this one that they reach; give it by "
        "--listen ADDRESS:0");
  }
}

}  // namespace

void declare_agents(CLI::App& app, agent_options& to) {
  app.add_option("--agents", to.agents, "the load comes from so many agents, on other machines")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000));
  declare(app, "--hosts", to.hosts, "HOST,...",
          "starts an agent on each of these by ssh, with your own settings and without a prompt");
  declare(app, "--launch", to.launch, "COMMAND",
          "starts agents by this, as 'mpirun -n 3 lockmark agent', with LOCKMARK_JOIN and "
          "LOCKMARK_INVITATION in its environment");
  declare(app, "--listen", to.listen, "ADDRESS:PORT",
          "where agents join; 127.0.0.1:0 if not given, which only agents on this machine reach");
  declare(app, "--agents-within", to.within, "TIME", "how long to wait for all of them");
  declare(app, "--invitation", to.invitation, "FILE",
          "also writes the invitation, which lets agents in, to this file");
  declare(app, "--identity", to.identity, "FILE",
          "what lockmark invitation made for the coordinator; if not given, made for this command");
  declare(app, "--remote-program", to.remote_program, "PROGRAM", "lockmark on those hosts");
  app.add_flag("--send-binary", to.send_binary,
               "sends this lockmark to --hosts, for as long as the command takes; they need the "
               "libraries that it needs");
}

std::vector<std::string> agent_arguments(const agent_options& asked) {
  if (!asks_for_agents(asked)) return {};
  agent_options checked = asked;
  check(checked);
  if (checked.hosts.empty() && checked.launch.empty()) {
    throw usage_error(
        "--agents: each run of this command needs agents anew; say how to start them by --hosts or "
        "--launch");
  }
  if (!checked.invitation.empty()) {
    throw usage_error("--invitation: each run of this command has one of its own");
  }
  std::vector<std::string> all{"--agents-within", checked.within, "--remote-program",
                               checked.remote_program};
  const auto add = [&all](const char* option, const std::string& value) {
    if (!value.empty()) all.insert(all.end(), {option, value});
  };
  add("--agents", fmt::format("{}", checked.agents));
  add("--hosts", checked.hosts);
  add("--launch", checked.launch);
  add("--listen", checked.listen);
  add("--identity", checked.identity);
  if (checked.send_binary) all.push_back("--send-binary");
  return all;
}

std::string text_of(const std::string& option, const std::string& file) {
  const std::ifstream opened(file);
  if (!opened) {
    throw usage_error("{}: {}: cannot be read ({})", option, file, std::strerror(errno));
  }
  return readable_text(file);
}

std::unique_ptr<agent_group> gather_agents(const agent_options& asked, bool quiet) {
  if (!asks_for_agents(asked)) return nullptr;
  agent_options checked = asked;
  check(checked);
  return std::make_unique<gathered>(checked, quiet);
}

}  // namespace lockmark::cli
