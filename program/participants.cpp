#include "program/participants.hpp"

#include <fmt/core.h>

#include "harness/run/participants/participant.hpp"
#include "program/execute.hpp"

namespace lockmark::cli {
namespace {

class crew_players final : public faults::players {
 public:
  explicit crew_players(run::process_crew& crew) : crew_(crew) {}

  std::uint32_t count() const override { return crew_.count(); }
  bool lives(std::uint32_t which) const override { return crew_.lives(which); }
  std::int64_t holding(std::uint32_t which) const override { return crew_.holding(which); }
  time_point kill(std::uint32_t which) override { return crew_.kill(which); }
  time_point pause(std::uint32_t which) override { return crew_.pause(which); }
  void resume(std::uint32_t which) override { crew_.resume(which); }

 private:
  run::process_crew& crew_;
};

}  // namespace

std::unique_ptr<run::process_crew> make_participants(const place& where, const run::muster& who,
                                                     const real_clock& clock) {
  if (who.job.participants == 0) return nullptr;
  if (where.form == "memory") {
    throw usage_error(
        fmt::format("participants: {} processes need a server between them, and {} is a lock in "
                    "the memory of one",
                    who.job.participants, who.lock.name));
  }
  return std::make_unique<run::process_crew>(clock, who);
}

std::unique_ptr<faults::players> players_of(run::process_crew* crew) {
  if (crew == nullptr) return nullptr;
  return std::make_unique<crew_players>(*crew);
}

int be_participant(const catalogue& known) {
  return run::be_participant([&known](const run::assignment& a) {
    const lock_kind& lock = known.lock(a.lock);
    return run::equipment{lock, known.workload(a.workload),
                          lock.make({a.target, names_of(a.job, a.run_id), a.options})};
  });
}

}  // namespace lockmark::cli
