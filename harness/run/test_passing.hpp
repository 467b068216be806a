// For tests: a session and a driver that pass every call on to another, to be derived from by those
// that do one thing differently.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::run {

class passing_session : public session {
 public:
  explicit passing_session(std::unique_ptr<session> inside) : inside_(std::move(inside)) {}
  task<outcome<grant>> acquire(request r) override { return inside_->acquire(r); }
  task<outcome<grant>> renew(request r) override { return inside_->renew(r); }
  task<outcome<nothing>> release(request r) override { return inside_->release(r); }
  bool alive() const override { return inside_->alive(); }
  task<void> close() override { return inside_->close(); }
  traffic sent() const override { return inside_->sent(); }

 private:
  const std::unique_ptr<session> inside_;
};

class passing_driver : public driver {
 public:
  explicit passing_driver(std::unique_ptr<driver> inside) : inside_(std::move(inside)) {}
  task<description> prepare(loop& l, time_point by) override { return inside_->prepare(l, by); }
  task<void> wipe(loop& l, time_point by) override { return inside_->wipe(l, by); }
  task<server_counters> counters(loop& l, time_point by) override {
    return inside_->counters(l, by);
  }
  task<std::vector<std::uint64_t>> commits(loop& l, time_point by) override {
    return inside_->commits(l, by);
  }
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point by) override {
    return inside_->open(l, std::move(who), by);
  }

 private:
  const std::unique_ptr<driver> inside_;
};

}  // namespace lockmark::run
