#include <unistd.h>

#include "harness/faults/proxy/serve.hpp"
#include "program/commands.hpp"

namespace lockmark::cli {

command_action proxy_command(CLI::App& app, const context&) {
  app.group("");  // not listed in --help
  return [] { return faults::serve_proxies(STDIN_FILENO, STDOUT_FILENO); };
}

}  // namespace lockmark::cli
