#include "workloads/workloads.hpp"

namespace lockmark::workloads {
namespace {

class commit_workload final : public workload {
 public:
  task<void> attempt(client& me) const override {
    while (true) {
      const bool done = co_await try_once(me);
      if (done) co_return;
      const bool again = co_await me.retry();
      if (!again) co_return;
    }
  }

 private:
  static task<bool> try_once(client& me) {
    const request reading = me.ask();
    const auto version = co_await me.lock().acquire(reading);
    if (!me.read(version)) co_return false;
    if (me.todo().hold > duration::zero()) co_await me.hold();
    const request writing = me.committing();
    const auto written = co_await me.lock().release(writing);
    co_return me.committed(written);
  }
};

}  // namespace

workload_kind commit() {
  return {"commit", "read, work, write back if nobody else did", feature::optimistic, features{},
          [] { return std::unique_ptr<workload>(std::make_unique<commit_workload>()); }};
}

}  // namespace lockmark::workloads
