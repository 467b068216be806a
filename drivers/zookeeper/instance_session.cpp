#include "drivers/zookeeper/instance_session.hpp"

#include <utility>

namespace lockmark::zookeeper {

instance_session::instance_session(loop& l, session_setup setup)
    : loop_(l), tasks_(l), setup_(std::move(setup)), zk_(handle::open(l, tasks_, setup_.where)) {}

task<bool> instance_session::connect(time_point deadline) {
  co_return co_await zk_->connected_by(deadline);
}

task<std::shared_ptr<handle>> instance_session::live_session(time_point deadline) {
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

task<void> instance_session::close() {
  zk_->close();
  co_await tasks_.join();
}

traffic instance_session::sent() const {
  traffic sum = of_ended_sessions_;
  sum += zk_->sent();
  return sum;
}

}  // namespace lockmark::zookeeper
