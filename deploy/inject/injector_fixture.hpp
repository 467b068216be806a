// Common to the tests of faults on real local servers: a cluster under fault plans, and functions
// to query its servers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "deploy/inject/local_injector.hpp"
#include "deploy/local/ask.hpp"
#include "deploy/local/cluster.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::inject {

using faults::fault_plan;

// A plan from the keys of one fault: {"do", "cut"}, ...
fault_plan plan_of(std::map<std::string, std::string> keys);

// Limits for answers that come, however busy the machine, and for the proof that none comes.
inline constexpr duration patience = std::chrono::seconds{60};
inline constexpr duration silence = std::chrono::seconds{3};

// redis-cli's output for the command; empty if there is no answer within the limit.
std::string redis(int port, const std::string& words, duration limit = patience);

// A ZooKeeper's answer to a four-letter word; empty if there is none within the limit.
std::string zookeeper(int port, const std::string& letters, duration limit = patience);

inline bool eventually(const std::function<bool()>& holds, duration limit = patience) {
  return local::eventually(holds, limit);
}

// A cluster for these plans, and the injector that carries them out.
class suffering {
 public:
  suffering(const std::string& topology, const std::vector<fault_plan>& plans)
      : plans_(plans), servers_(local::cluster::start(topology, options_for(plans))) {
    local_injector::environment where;
    where.between = &between_;
    where.own = &servers_;
    where.url = servers_.target();
    where.key = "lockmark:test:k0";
    where.program = LOCKMARK_BINARY;
    injector_ = std::make_unique<local_injector>(std::move(where), plans);
  }

  // Begins the n-th plan; returns its target.
  std::string begin(std::size_t n = 0) {
    run_to_end(loop_, begin_it(n));
    return hit_.whom;
  }
  void end(std::size_t n = 0) { run_to_end(loop_, injector_->end(loop_, plans_[n], hit_)); }
  void end_all() { run_to_end(loop_, injector_->end_all(loop_)); }

  // Why a plan cannot be carried out here; empty if it can.
  std::string refusal_of(const faults::fault_plan& plan) const;

  local::cluster& servers() { return servers_; }
  int port(std::size_t n = 0) const { return servers_.servers().at(n).port; }
  // The port given to clients: the proxy's, or the server's.
  int client_port(std::size_t n = 0) const {
    return config::parse_target(injector_->url_of())->hosts.at(n).port;
  }

 private:
  local::options options_for(const std::vector<fault_plan>& plans);
  task<void> begin_it(std::size_t n) {
    task<faults::active_fault> starting = injector_->begin(loop_, plans_[n]);
    hit_ = co_await std::move(starting);
  }

  std::vector<fault_plan> plans_;
  server_links between_{LOCKMARK_BINARY};
  local::cluster servers_;
  std::unique_ptr<local_injector> injector_;
  real_clock clock_;
  loop loop_{clock_};
  faults::active_fault hit_;
};

}  // namespace lockmark::inject
