// One simulated client: stamps, counts and notes the reports of its workload.
//
// The hot path of the harness: a complete cycle takes five clock reads, four histogram counts and
// three events, no allocation and no lock.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/async/signal.hpp"
#include "harness/check/guard.hpp"
#include "harness/check/history.hpp"
#include "harness/config/job.hpp"
#include "harness/config/key_choice.hpp"
#include "harness/run/phases.hpp"
#include "harness/run/recorder.hpp"
#include "harness/stats/random.hpp"
#include "harness/workload.hpp"

namespace lockmark::run {

// State shared by all actors of one worker. Everything must outlive the actors.
struct stage {
  loop& where;
  const config::job& job;
  const config::key_sampler& keys;
  const workload& what;
  features lock_has;
  const run::window& window;
  run::gauges& gauges;
  run::recorder& recorder;
  check::journal& journal;
  bool notes_answers = false;     // of releases; needed only for a history of the run
  check::guard* guard = nullptr;  // the resource that holders read and write; null: none
};

// The cause of an attempt's lateness: the harness's timer, or no free client.
enum class lateness : std::uint8_t { timer, queue };

class actor final : public client {
 public:
  // `number` counts over all clients of the run, `within` within the session's instance.
  actor(const stage& s, session& lock, std::uint32_t number, std::uint32_t within);

  // Begin an attempt that was due at `intended`, and end it; the workload's coroutine runs in
  // between. The n-th `arrival` of a load has the same key and hold in every run of a seed, whoever
  // serves it (R2); without one, they are the next of this client's.
  void begin(time_point intended, lateness why, std::optional<std::uint64_t> arrival = {});
  void end();
  // A driver call threw: the client's hold or wait is over.
  void give_up();

  // The end of the last attempt.
  time_point finished_at() const { return finished_; }
  // Draws a think time.
  duration think() { return stage_.job.think.sample(random_); }

  // Pauses until `when`, or until wake() is called.
  task<void> pause_until(time_point when);
  void wake() { wake_.set(); }
  // From now on holds are cut short, so that every lock is released soon.
  void hurry();
  bool in_attempt() const { return in_attempt_; }
  // The time by which the current driver call has to end; max: none.
  time_point due() const { return in_attempt_ ? due_ : time_point::max(); }

  // client
  const plan& todo() const override { return plan_; }
  session& lock() override { return lock_; }
  request ask() override;
  bool answered(const outcome<grant>& answer) override;
  task<bool> retry() override;
  task<void> hold() override;
  request nested() override;
  void broke(std::string_view what) override;
  request giving_back() override;
  void gave_back(const outcome<nothing>& answer) override;
  bool read(const outcome<grant>& answer) override;
  request committing() override;
  bool committed(const outcome<nothing>& answer) override;

 private:
  enum class ending : std::uint8_t { open, granted, refused, doubt };

  void draw_plan(stats::random_source& from);
  void note(check::event_kind kind, time_point at, std::uint64_t token = 0);
  void note(check::event_kind kind, time_point at, check::answer how);
  void note_grant(duration pipe);
  void note_release(time_point at);
  void promise(time_point at);
  bool must_stop(time_point now) const;
  task<void> renew(time_point due);
  void got_it(time_point at, duration pipe = {});
  void missed(refusal r);
  void missed(doubt d);
  // Of a call that was not done. False.
  template <class T>
  bool missed(const outcome<T>& answer) {
    if (answer.refused()) missed(answer.why_refused());
    if (answer.in_doubt()) missed(answer.why_in_doubt());
    return false;
  }
  void leave();
  void finish(time_point at);
  request make_request(time_point deadline);
  request prompt_request(time_point now);
  request due_by(request r);
  void in_no_call() { due_ = time_point::max(); }
  void record(series s, duration d) {
    if (counted_) stage_.recorder.record(s, d.count());
  }
  void count(counter c) {
    if (counted_) stage_.recorder.count(c);
  }
  void reached(time_point at) {
    stage_.gauges.reached_ns.store(to_ns(at), std::memory_order_relaxed);
  }
  void failed(time_point at) {
    stage_.gauges.failed_ns.store(to_ns(at), std::memory_order_relaxed);
  }

  const stage& stage_;
  session& lock_;
  const std::uint32_t number_;
  const std::uint32_t within_;
  stats::random_source random_;
  signal wake_;
  plan plan_;

  // Of the attempt in progress.
  lateness why_late_ = lateness::timer;
  bool in_attempt_ = false;
  bool counted_ = false;
  bool started_ = false;
  bool in_flight_ = false;  // between the first try and the end or the release
  bool holding_ = false;
  bool hurry_ = false;
  ending ending_ = ending::open;
  refusal refusal_ = refusal::busy;
  doubt doubt_ = doubt::deadline;
  std::uint32_t failures_ = 0;
  std::uint64_t token_ = 0;
  std::uint64_t turn_of_grant_ = 0;  // of the loop
  std::uint64_t had_read_ = 0;       // in the guarded register
  time_point intended_, sent_, granted_, release_sent_, finished_;
  time_point due_ = time_point::max();
  time_point lease_ends_ = time_point::max();  // at the earliest
};

}  // namespace lockmark::run
