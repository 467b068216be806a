// Starts the server of the tests. Not in server_fixture.hpp: only tests may start servers.
#include "drivers/postgres/server_fixture.hpp"

#include "deploy/local/cluster.hpp"
#include "deploy/local/servers.hpp"

namespace lockmark::postgres {
namespace {

// The usual local server, with a user that may also inspect it and change its limits.
local::plan observable_postgres(local::site& where) {
  local::plan p = local::single_postgres(where);
  for (local::text_file& f : p.servers[0].files) {
    if (f.path.filename() == "accounts.sql") f.text += "ALTER ROLE lockmark SUPERUSER;\n";
  }
  return p;
}

// Started by the first test, stopped at the end of the program.
local::cluster& running() {
  static auto one = local::cluster::start(
      local::topology{"observable", "PostgreSQL with an administrator", observable_postgres});
  return one;
}

}  // namespace

std::string target() {
  return running().target();
}

void signal_server(int signal) {
  running().kill("postgres", signal);
}

void restart_server() {
  running().restart("postgres");
}

}  // namespace lockmark::postgres
