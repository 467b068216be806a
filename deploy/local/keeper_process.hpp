// The state of a keeper: its servers, its owner's wishes, and the processes it is the parent of.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "deploy/local/directory.hpp"
#include "deploy/local/keeper.hpp"
#include "deploy/local/record.hpp"

namespace lockmark::local {

inline constexpr duration forever = std::chrono::hours{24};  // one iteration of waiting

// Ends any wait when the owner is gone or the keeper was told to stop.
struct stop_requested {};

class keeper {
 public:
  keeper(topology what, options with, unique_fd& control);
  void run();

 private:
  struct server {
    server_spec spec;
    pid_t pid = 0;
    std::string detours{};  // "2888>40001,...": ports to reach its peers by; see link_shim
  };

  void start();
  void ask_for_detours();
  void start_server(server& which);
  void wait_until_ready(const server& which);
  void wait_until_joined();
  void wait_for_answer(const server& which, const probe& ask);
  void run_command(const command& what);
  void serve();
  reply obey(const std::string& message);
  void kill_server(server& which, int signal);
  void suspend(const server& which);
  void wait_until(const std::function<bool()>& condition, time_point deadline);
  void revive(server& which, bool with_data);
  std::vector<std::string> environment_of(const server& which) const;
  void stop_all() noexcept;
  void wait_for_all(time_point deadline);
  void kill_escaped() noexcept;

  server& find(const std::string& name);
  pid_t launch_in(const std::filesystem::path& folder, const std::filesystem::path& log,
                  const std::vector<std::string>& argv,
                  const std::vector<std::string>& environment = {});
  bool has_ended(pid_t pid) const { return !living_.contains(pid); }
  bool wait_for_end(pid_t pid, time_point deadline);
  std::string pause(duration at_most);
  bool poll_once(duration at_most, bool listen);
  void handle_signals();
  void reap();
  cluster_info describe() const;

  real_clock clock_;
  topology topology_;
  options with_;
  port_source ports_;
  unique_fd& control_;
  unique_fd signals_;
  temporary_directory directory_;
  std::vector<server> servers_;
  std::map<pid_t, int> ended_;    // pid -> status, of children already reaped
  std::map<pid_t, bool> living_;  // children not reaped yet; each leads its process group
  std::string target_;
  bool detached_ = false;
  bool told_to_end_ = false;
};

// To the owner; nothing if it is gone.
void send_reply(const unique_fd& control, const reply& answer);

}  // namespace lockmark::local
