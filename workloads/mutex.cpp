#include "workloads/workloads.hpp"

namespace lockmark::workloads {
namespace {

task<void> enter_again(client& me) {
  for (std::uint32_t level = 1; level < me.todo().depth; ++level) {
    const auto answer = co_await me.lock().acquire(me.nested());
    if (!answer.done()) me.broke("a nested acquire by the holder was not granted");
  }
}

task<void> leave_inner(client& me) {
  for (std::uint32_t level = 1; level < me.todo().depth; ++level) {
    const auto answer = co_await me.lock().release(me.nested());
    if (answer.refused()) me.broke("a nested release by the holder was refused");
  }
}

class mutex_workload final : public workload {
 public:
  task<void> attempt(client& me) const override {
    while (true) {
      const request wish = me.ask();
      const auto answer = co_await me.lock().acquire(wish);
      if (me.answered(answer)) break;
      const bool again = co_await me.retry();
      if (!again) co_return;
    }
    const bool nests = me.todo().depth > 1;
    if (nests) co_await enter_again(me);
    if (me.todo().hold > duration::zero()) co_await me.hold();
    if (nests) co_await leave_inner(me);
    const request r = me.giving_back();
    me.gave_back(co_await me.lock().release(r));
  }
};

}  // namespace

workload_kind mutex() {
  return {"mutex", "take the lock, hold it, give it back", features{}, feature::optimistic,
          [] { return std::unique_ptr<workload>(std::make_unique<mutex_workload>()); }};
}

}  // namespace lockmark::workloads
