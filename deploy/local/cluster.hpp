// A local cluster: real servers with the lifetime of this object, or of its process.
//
//   const auto redis = local::cluster::start("redis");
//   run(redis.target());                                // redis://127.0.0.1:PORT
//
// Everything is gone after stop(), after the destructor, after this process dies by any signal (the
// keeper sees it, see keeper.hpp), and after a failed start.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/local/error.hpp"
#include "deploy/local/record.hpp"
#include "deploy/local/topology.hpp"

namespace lockmark::local {

class cluster {
 public:
  // Starts a topology of the table and returns when every server answers. Call it before other
  // threads are started: it forks. Throws start_error; also when a signal with a handler arrives
  // meanwhile, such as Ctrl-C.
  static cluster start(std::string_view topology, options with = {});
  // The same for a topology that is not in the table.
  static cluster start(const topology& what, options with = {});

  cluster(cluster&&) noexcept;
  cluster& operator=(cluster&&) noexcept;
  ~cluster();  // stop()

  const cluster_info& info() const;  // as of the last call
  const std::string& target() const { return info().target; }
  const std::string& directory() const { return info().directory; }
  const std::vector<server_info>& servers() const { return info().servers; }

  // For fault tests. kill() returns once a SIGKILL or SIGSTOP has taken effect; restart() kills the
  // server if it runs, starts it on its old port and data and returns when it answers. Throw
  // start_error.
  void kill(std::string_view server, int signal);
  void restart(std::string_view server);
  // Like restart(), but does not wait until the others have accepted the server again, which may be
  // impossible for them. Without its data: its stored data are removed first.
  void revive(std::string_view server, bool with_data = true);
  // From now on the server's wall clock is ahead of the host's by this much. REQUIRES: started with
  // a clock shim.
  void jump_clock(std::string_view server, duration ahead);

  // Lets the cluster outlive this object and process; a SIGTERM to info().keeper ends it. The
  // object is empty afterwards.
  void detach();

  // Stops all servers and removes the directory; returns when that is done. Never throws; does
  // nothing on an empty object.
  void stop() noexcept;

 private:
  struct state;
  explicit cluster(std::unique_ptr<state> running);
  std::unique_ptr<state> state_;
};

}  // namespace lockmark::local
