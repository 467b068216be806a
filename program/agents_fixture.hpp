// Common to the tests with agents on this machine: one Redis for all of them, and what a run
// leaves.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "deploy/local/cluster.hpp"
#include "harness/config/target.hpp"
#include "program/test_agents.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {

class agents_fixture : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    servers = std::make_unique<local::cluster>(local::cluster::start("redis"));
  }
  static void TearDownTestSuite() { servers.reset(); }

  // Of a run with so many agents, which wait for them.
  program coordinator(int count, std::vector<std::string> more = {}) {
    return start_coordinator(dir_, servers->target(), count, std::move(more));
  }
  program agent(const program& of, const std::string& name) {
    return program(agent_command(dir_, of, name), dir_.path());
  }
  nlohmann::json result() const { return read_json(only_folder(dir_ / "runs") / "run.json"); }
  // Of an agent; they joined in any order.
  nlohmann::json host(const std::string& agent) const {
    const nlohmann::json r = result();
    for (const auto& h : r.at("hosts")) {
      if (h.at("agent") == agent) return h;
    }
    ADD_FAILURE() << "no host has the agent " << agent;
    return {};
  }
  // The marks of this kind.
  nlohmann::json marks(const std::string& kind) const {
    nlohmann::json all = nlohmann::json::array();
    const nlohmann::json r = result();
    for (const auto& m : r.at("marks")) {
      if (m.at("kind") == kind) all.push_back(m);
    }
    return all;
  }
  // The keys that the run left.
  std::string left_behind() {
    const config::target at = *config::parse_target(servers->target());
    std::string keys = output_of(
        {"redis-cli", "-p", fmt::format("{}", at.hosts.at(0).port), "KEYS", "*"}, dir_.path());
    std::erase(keys, '\n');
    return keys;
  }

  inline static std::unique_ptr<local::cluster> servers;
  scratch dir_;
};

}  // namespace lockmark::cli
