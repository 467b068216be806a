#include "program/test_agents.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

namespace lockmark::cli {

program start_coordinator(const scratch& dir, const std::string& target, int agents,
                          std::vector<std::string> more, const std::string& invitation) {
  std::vector<std::string> words{"run",          "contended",
                                 "--on",         target,
                                 "--out",        (dir / "runs").string(),
                                 "--agents",     fmt::format("{}", agents),
                                 "--invitation", (dir / invitation).string(),
                                 "--set",        "floor=0s"};
  if (std::ranges::find(more, "--duration") == more.end()) {
    words.insert(words.end(), {"--duration", "3s"});
  }
  words.insert(words.end(), more.begin(), more.end());
  return {lockmark(std::move(words)), dir.path()};
}

std::string address_of(const program& coordinator) {
  EXPECT_TRUE(coordinator.says("--join ")) << coordinator.err();
  const std::string said = coordinator.err();
  const auto at = said.find("--join ");
  if (at == said.npos) return {};
  return said.substr(at + 7, said.find(' ', at + 7) - at - 7);
}

std::vector<std::string> agent_command(const scratch& dir, const program& coordinator,
                                       const std::string& name) {
  return agent_command(dir, address_of(coordinator), name);
}

std::vector<std::string> agent_command(const scratch& dir, const std::string& join,
                                       const std::string& name) {
  return lockmark({"agent", "--join", join, "--invitation", (dir / "invitation").string(), "--name",
                   name, "--keep", (dir / "parts").string()});
}

std::vector<pid_t> children_of(pid_t parent) {
  std::istringstream all(read_text(fmt::format("/proc/{}/task/{}/children", parent, parent)));
  std::vector<pid_t> found;
  for (pid_t child = 0; all >> child;) found.push_back(child);
  return found;
}

}  // namespace lockmark::cli
