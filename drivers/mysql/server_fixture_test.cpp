// Starts the server of the tests. Not in server_fixture.hpp: only tests may start servers.
#include "drivers/mysql/server_fixture.hpp"

#include "deploy/local/cluster.hpp"
#include "deploy/local/servers.hpp"

namespace lockmark::mysql {
namespace {

// The usual local server, with a user that may also inspect it and change its limits.
local::plan observable_mariadb(local::site& where) {
  local::plan p = local::single_mariadb(where);
  p.servers[0].files[0].text += "GRANT ALL ON *.* TO 'lockmark'@'127.0.0.1' WITH GRANT OPTION;\n";
  return p;
}

// Started by the first test, stopped at the end of the program.
local::cluster& running() {
  static auto one = local::cluster::start(
      local::topology{"observable", "MariaDB with an administrator", observable_mariadb});
  return one;
}

}  // namespace

std::string target() {
  return running().target();
}

void signal_server(int signal) {
  running().kill(running().servers()[0].name, signal);
}

}  // namespace lockmark::mysql
