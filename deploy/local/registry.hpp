// Local clusters for manual use: `lockmark up`, `down` and `status`.
//
// Each is a detached cluster and a file NAME.json in a state directory. The file says where the
// cluster is; whether it still lives is always checked with the cluster itself, so a stale file
// does no harm.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "deploy/local/cluster.hpp"
#include "deploy/local/process.hpp"

namespace lockmark::local {

class registry {
 public:
  // $XDG_RUNTIME_DIR/lockmark, or /tmp/lockmark-UID if that is not set.
  static std::filesystem::path default_directory();

  // Creates the directory with mode 0700. Throws start_error if it belongs to another user, since
  // its files contain passwords.
  explicit registry(std::filesystem::path state_directory = default_directory());

  // Starts a topology and leaves it running. Throws start_error if it is up already.
  cluster_info up(std::string_view topology, options with = {});

  // Stops one topology, or all with an empty name, and returns those stopped. Throws start_error if
  // the named one is not up, or if one does not end in time.
  std::vector<cluster_info> down(std::string_view topology = {});

  // The clusters that are up, by name. A dead server has pid 0. Removes the files of clusters that
  // are gone.
  std::vector<cluster_info> status();

 private:
  std::vector<cluster_info> living();
  std::filesystem::path file(std::string_view topology) const;
  unique_fd lock() const;

  std::filesystem::path directory_;
};

}  // namespace lockmark::local
