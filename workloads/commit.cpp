#include "workloads/workloads.hpp"

namespace lockmark::workloads {
namespace {

class commit_workload final : public workload {
 public:
  task<void> attempt(client& me) const override {
    do {
      const request reading = me.ask();
      const auto version = co_await me.lock().acquire(reading);
      if (!me.read(version)) continue;
      if (me.todo().hold > duration::zero()) co_await me.hold();
      const request writing = me.committing();
      const auto written = co_await me.lock().release(writing);
      if (me.committed(written)) co_return;
    } while (co_await me.retry());
  }
};

}  // namespace

workload_kind commit() {
  return {"commit", "read, work, write back if nobody else did", feature::optimistic, features{},
          [] { return std::unique_ptr<workload>(std::make_unique<commit_workload>()); }};
}

}  // namespace lockmark::workloads
