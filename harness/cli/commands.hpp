// The subcommands of lockmark. Each declares its options on the CLI11 application and returns the
// function that runs it; that function returns the exit status.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "harness/cli/catalogue.hpp"

namespace lockmark::cli {

struct context {
  const catalogue& known;
  std::vector<std::string> arguments;  // the whole command line, targets redacted
};

using command = std::function<int()>;

command list_command(CLI::App& app, const context& c);
command run_command(CLI::App& app, const context& c);
command table_command(CLI::App& app, const context& c);
command report_command(CLI::App& app, const context& c);
command gate_command(CLI::App& app, const context& c);
command faults_command(CLI::App& app, const context& c);
command claims_command(CLI::App& app, const context& c);
command capacity_command(CLI::App& app, const context& c);
command up_command(CLI::App& app, const context& c);
command down_command(CLI::App& app, const context& c);
command status_command(CLI::App& app, const context& c);
command completion_command(CLI::App& app, const context& c);
command man_command(CLI::App& app, const context& c);
// Not for people: what lockmark starts as its proxies (harness/faults/proxy/serve.hpp).
command proxy_command(CLI::App& app, const context& c);

}  // namespace lockmark::cli
