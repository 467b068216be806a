#include "program/participants.hpp"

#include <fmt/core.h>

#include "harness/run/participants/participant.hpp"
#include "program/execute.hpp"

namespace lockmark::cli {
namespace {

class pool_control final : public faults::participant_control {
 public:
  explicit pool_control(run::process_worker_pool& workers) : pool_(workers) {}

  std::uint32_t count() const override { return pool_.count(); }
  bool lives(std::uint32_t which) const override { return pool_.lives(which); }
  std::int64_t holding(std::uint32_t which) const override { return pool_.holding(which); }
  time_point kill(std::uint32_t which) override { return pool_.kill(which); }
  time_point pause(std::uint32_t which) override { return pool_.pause(which); }
  void resume(std::uint32_t which) override { pool_.resume(which); }

 private:
  run::process_worker_pool& pool_;
};

}  // namespace

std::unique_ptr<run::process_worker_pool> make_participants(const resolved_target& where,
                                                            const run::process_pool_setup& who,
                                                            const real_clock& clock) {
  if (who.job.participants == 0) return nullptr;
  if (where.form == "memory") {
    throw usage_error(
        "participants: {} processes need a server between them, and {} is a lock in "
        "the memory of one",
        who.job.participants, who.lock.name);
  }
  return std::make_unique<run::process_worker_pool>(clock, who);
}

std::unique_ptr<faults::participant_control> control_of(run::process_worker_pool* workers) {
  if (workers == nullptr) return nullptr;
  return std::make_unique<pool_control>(*workers);
}

int be_participant(const catalogue& known) {
  return run::be_participant([&known](const run::assignment& a) {
    const lock_kind& lock = known.lock_for(a.job);
    return run::equipment{lock, known.workload(a.workload),
                          lock.make({a.target, names_of(a.job, a.run_id), a.options})};
  });
}

}  // namespace lockmark::cli
