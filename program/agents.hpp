// Load from other machines: the options of those who ask for it, and what they start. `lockmark
// agent` itself is in command_agent.cpp.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/config/job.hpp"
#include "harness/run/participants/process_worker_pool.hpp"

namespace lockmark::cli {

struct agent_options {
  std::uint32_t agents = 0;
  std::string listen;
  std::string within = "60s";
  std::string invitation;  // a file to write it to
  std::string identity;    // a file to read it from
  std::string hosts;       // a,b,c
  std::string launch;
  std::string remote_program = "lockmark";
  bool send_binary = false;
};

void declare_agents(CLI::App& app, agent_options& to);

// The same options, for a lockmark that this one starts, which then gathers agents of its own;
// empty: none are asked for. Throws usage_error for what gather_agents would refuse, and for agents
// that nobody would start anew.
std::vector<std::string> agent_arguments(const agent_options& asked);

// The text of an option's file. Throws usage_error, with both, if it cannot be opened.
std::string text_of(const std::string& option, const std::string& file);

// The agents of a command, from when they joined until the command ends.
class agent_group {
 public:
  virtual ~agent_group() = default;
  // How many participants a job has that does not say so: one for each core but one of each agent.
  virtual std::uint64_t participants_for(const config::job& job) const = 0;
  // Throws as agent_worker_pool does.
  virtual std::unique_ptr<run::separate_pool> make_pool(const run::process_pool_setup& who) = 0;
};

// Waits for them, and tells on stderr whom it waits for. Null: none are asked for. Throws
// usage_error if they do not come.
std::unique_ptr<agent_group> gather_agents(const agent_options& asked, bool quiet);

}  // namespace lockmark::cli
