// The subcommands of lockmark. Each declares its options on the CLI11 application and returns the
// function that runs it; that function returns the exit status.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "program/catalogue.hpp"

namespace lockmark::cli {

struct context {
  const catalogue& known;
  std::vector<std::string> arguments;  // the whole command line, with redacted targets
};

using command_action = std::function<int()>;

command_action list_command(CLI::App& app, const context& c);
command_action job_command(CLI::App& app, const context& c);
command_action run_command(CLI::App& app, const context& c);
command_action agent_command(CLI::App& app, const context& c);
command_action invitation_command(CLI::App& app, const context& c);
command_action merge_command(CLI::App& app, const context& c);
command_action table_command(CLI::App& app, const context& c);
command_action report_command(CLI::App& app, const context& c);
command_action gate_command(CLI::App& app, const context& c);
command_action faults_command(CLI::App& app, const context& c);
command_action claims_command(CLI::App& app, const context& c);
command_action capacity_command(CLI::App& app, const context& c);
command_action doctor_command(CLI::App& app, const context& c);
command_action try_command(CLI::App& app, const context& c);
command_action up_command(CLI::App& app, const context& c);
command_action down_command(CLI::App& app, const context& c);
command_action status_command(CLI::App& app, const context& c);
command_action completion_command(CLI::App& app, const context& c);
command_action help_command(CLI::App& app, const context& c);
command_action man_command(CLI::App& app, const context& c);

}  // namespace lockmark::cli
