// In place of agents.cpp, command_agent.cpp, command_invitation.cpp and command_merge.cpp, where
// lockmark is built without LOCKMARK_AGENTS, and so without gRPC.
#include "harness/base/errors.hpp"
#include "program/agents.hpp"
#include "program/commands.hpp"

namespace lockmark::cli {
namespace {

command_action absent(CLI::App& app) {
  app.allow_extras();
  return []() -> int {
    throw usage_error("this lockmark has no agents: it was built without LOCKMARK_AGENTS");
  };
}

}  // namespace

void declare_agents(CLI::App&, agent_options&) {}

std::vector<std::string> agent_arguments(const agent_options&) {
  return {};
}

std::unique_ptr<agent_group> gather_agents(const agent_options&, bool) {
  return nullptr;
}

command_action agent_command(CLI::App& app, const context&) {
  return absent(app);
}

command_action invitation_command(CLI::App& app, const context&) {
  return absent(app);
}

command_action merge_command(CLI::App& app, const context&) {
  return absent(app);
}

}  // namespace lockmark::cli
