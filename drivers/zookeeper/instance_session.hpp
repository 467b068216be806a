// One instance's ZooKeeper session: the common base of every lock's session.
//
// If the session ends, the next call opens another one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "drivers/zookeeper/handle.hpp"

namespace lockmark::zookeeper {

// What a driver hands to each session that it opens.
struct session_setup {
  handle_settings where;
  std::vector<std::string> keys;  // by request::key: the path below which the lock lives
  option_values options;
};

class instance_session : public session {
 public:
  instance_session(loop& l, session_setup setup)
      : loop_(l), tasks_(l), setup_(std::move(setup)), zk_(handle::open(l, tasks_, setup_.where)) {}

  // REQUIRES: called once, before anything else. False: not connected by the deadline.
  task<bool> connect(time_point deadline) { return zk_->connected_by(deadline); }
  const std::string& last_failure() const { return zk_->last_failure(); }

  bool alive() const override { return zk_->alive(); }
  task<void> close() override {
    zk_->close();
    co_await tasks_.join();
  }
  traffic sent() const override {
    traffic sum = of_ended_sessions_;
    sum += zk_->sent();
    return sum;
  }

 protected:
  // The connected session, or a new one if the old one has ended; null if the deadline passed
  // first.
  task<std::shared_ptr<handle>> live_session(time_point deadline) {
    do {
      if (zk_->over()) {
        of_ended_sessions_ += zk_->sent();
        ++of_ended_sessions_.reconnects;
        zk_ = handle::open(loop_, tasks_, setup_.where);
      }
      const auto zk = zk_;
      const bool connected = co_await zk->connected_by(deadline);
      if (connected) co_return zk;
    } while (zk_->over() && loop_.now() < deadline);
    co_return nullptr;
  }

  bool session_ended() const { return zk_->over(); }

  const std::string& path_of(const request& r) const { return setup_.keys.at(r.key); }

  loop& loop_;
  scope tasks_;

 private:
  session_setup setup_;
  std::shared_ptr<handle> zk_;
  traffic of_ended_sessions_;
};

}  // namespace lockmark::zookeeper
