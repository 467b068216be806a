// The suite on locks that are broken on purpose: each case must catch the flaw that it tests for.
#include "drivers/conformance/conformance.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <utility>

#include "drivers/memory/lock.hpp"
#include "drivers/memory/memory.hpp"

namespace lockmark::conformance {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::Not;

lock_kind memory_kind(std::string_view name) {
  for (const lock_kind& kind : memory::shared_kinds()) {
    if (kind.name == name) return kind;
  }
  throw std::logic_error("no such lock");
}

enum class flaw {
  pushes_in,      // a client that is kept out believes that it has the key
  outlasts,       // a lease lasts a hundred times as long on the server as the client is told
  never_closes,   // the holds of a closed session stay
  dawdles,        // every other client joins the queue later than it arrives
  only_says,      // a renewal reports success and does nothing
  cannot_renew,   // a holder's renewal is refused
  stalls,         // no flaw: the first renewal comes after the lease has expired
  serves_one,     // the second session of a driver is not opened
  loses_answers,  // to `answers_to_lose` releases
};

using sessions = std::vector<std::unique_ptr<session>>;

std::atomic<int> now_open{0};  // sessions
std::atomic<int> answers_to_lose{0};

class flawed_session final : public session {
 public:
  flawed_session(loop& l, std::unique_ptr<session> inside, flaw f, sessions& left_open)
      : loop_(l), inside_(std::move(inside)), flaw_(f), left_open_(left_open) {
    ++now_open;
  }

  task<outcome<grant>> acquire(request r) override {
    const duration lease = r.lease;
    if (flaw_ == flaw::outlasts) r.lease *= 100;
    if (flaw_ == flaw::dawdles && r.client % 2 == 1) co_await loop_.sleep_for(5s);
    if (flaw_ == flaw::pushes_in) r.deadline = loop_.now();
    const auto got = co_await inside_->acquire(r);
    if (got.refused() && flaw_ == flaw::pushes_in) {
      pushed_.insert({r.key, r.client});
      co_return grant{0, loop_.now() + lease};
    }
    if (got.done() && flaw_ == flaw::outlasts) {
      co_return grant{got.value().token, got.value().valid_until - 99 * lease};
    }
    co_return got;
  }
  task<outcome<grant>> renew(request r) override {
    if (flaw_ == flaw::only_says) co_return grant{0, loop_.now() + r.lease};
    if (flaw_ == flaw::cannot_renew) co_return refusal::not_owner;
    if (flaw_ == flaw::stalls && !std::exchange(has_stalled_, true)) {
      co_await loop_.sleep_for(2 * r.lease);
    }
    co_return co_await inside_->renew(r);
  }
  task<outcome<nothing>> release(request r) override {
    if (pushed_.erase({r.key, r.client}) != 0) co_return nothing{};
    const auto gone = co_await inside_->release(r);
    if (flaw_ == flaw::loses_answers && answers_to_lose-- > 0) co_return doubt::connection_lost;
    co_return gone;
  }
  bool alive() const override { return inside_->alive(); }
  task<void> close() override {
    --now_open;
    if (flaw_ == flaw::never_closes) {
      left_open_.push_back(std::move(inside_));
      co_return;
    }
    co_await inside_->close();
  }
  traffic sent() const override { return inside_->sent(); }

 private:
  loop& loop_;
  std::unique_ptr<session> inside_;
  const flaw flaw_;
  sessions& left_open_;
  bool has_stalled_ = false;
  std::set<std::pair<std::uint32_t, std::uint32_t>> pushed_;  // key, client
};

class flawed_driver final : public driver {
 public:
  flawed_driver(std::unique_ptr<driver> inside, flaw f) : inside_(std::move(inside)), flaw_(f) {}

  task<description> prepare(loop& l, time_point t) override { return inside_->prepare(l, t); }
  task<void> wipe(loop& l, time_point t) override { return inside_->wipe(l, t); }
  task<server_counters> counters(loop& l, time_point t) override { return inside_->counters(l, t); }
  task<std::vector<std::uint64_t>> commits(loop& l, time_point t) override {
    return inside_->commits(l, t);
  }
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point t) override {
    if (flaw_ == flaw::serves_one && opened_++ == 1) throw no_server("serves one");
    auto opened = co_await inside_->open(l, std::move(who), t);
    co_return std::make_unique<flawed_session>(l, std::move(opened), flaw_, left_open_);
  }

 private:
  const std::unique_ptr<driver> inside_;
  const flaw flaw_;
  sessions left_open_;
  std::atomic<int> opened_{0};
};

// Threads need not meet in every one of some hundred rounds.
bool is_found_by_threads(const subject& s, std::string_view case_name) {
  for (int n = 0; n < 50; ++n) {
    if (!findings(s, case_name).empty()) return true;
  }
  return false;
}

template <flaw f>
lock_kind flawed_reader() {
  lock_kind kind = memory_kind("memory/read");
  kind.make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
    return std::make_unique<flawed_driver>(memory_kind("memory/read").make(setup), f);
  };
  return kind;
}

template <flaw f>
lock_kind flawed_writer() {
  lock_kind kind = memory_kind("memory/write");
  kind.make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
    return std::make_unique<flawed_driver>(memory_kind("memory/write").make(setup), f);
  };
  return kind;
}

subject in_memory(const lock_kind& kind) {
  return {.kind = kind, .target = "memory:", .in_process = true};
}

subject readers_with(const lock_kind& reader, const lock_kind& writer) {
  subject s = in_memory(reader);
  s.writer = writer;
  return s;
}

// A later client may be served sooner, again and again.
TEST(broken_queue, that_is_out_of_order_is_caught) {
  const subject good = in_memory(memory_kind("memory/write"));
  const subject bad = in_memory(flawed_writer<flaw::dawdles>());
  EXPECT_THAT(findings(good, "waiters_are_served_in_order"), IsEmpty());
  EXPECT_THAT(findings(bad, "waiters_are_served_in_order"), Not(IsEmpty()));
}

// A lease lost to a stalled machine is not the lock's fault.
TEST(broken_renewal, is_caught_and_a_late_one_is_none) {
  const auto said = [](const lock_kind& kind) {
    return findings(in_memory(kind), "renewal_keeps_it");
  };
  EXPECT_THAT(said(memory_kind("memory/write")), IsEmpty());
  EXPECT_THAT(said(flawed_writer<flaw::stalls>()), IsEmpty());
  EXPECT_THAT(said(flawed_writer<flaw::only_says>()), Not(IsEmpty()));
  EXPECT_THAT(said(flawed_writer<flaw::cannot_renew>()), Not(IsEmpty()));
}

// An election of the servers' leader explains a doubt, once and not for ever.
TEST(doubt, is_caught_without_an_election) {
  subject s = in_memory(flawed_writer<flaw::loses_answers>());
  const auto said = [&s](int lost) {
    answers_to_lose = lost;
    return findings(s, "hammered");
  };
  EXPECT_THAT(said(1), Not(IsEmpty()));
  s.elections = [] { return 7; };
  EXPECT_THAT(said(1), Not(IsEmpty()));
  s.elections = [held = 0]() mutable { return held++; };
  EXPECT_THAT(said(1), IsEmpty());
  s.elections = [held = 0]() mutable {
    answers_to_lose = 1;
    return held++;
  };
  EXPECT_THAT(said(1), Not(IsEmpty()));
}

// A semaphore of three with room for `places`.
template <std::uint32_t places>
lock_kind semaphore_with_room_for() {
  lock_kind kind = memory_kind("memory/semaphore");
  kind.make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
    return memory::lock_on(memory::keys_of(setup.run_names, places), {});
  };
  return kind;
}

// A fourth owner in a semaphore of three.
TEST(broken_semaphore, that_admits_one_more_is_caught) {
  const subject s = in_memory(semaphore_with_room_for<4>());
  EXPECT_THAT(findings(s, "holders_share"), IsEmpty());
  EXPECT_THAT(findings(s, "holders_are_limited"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "exclusion"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "hammered"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "wait_timeout_is_kept"), Not(IsEmpty()));
}

// Only two in a semaphore of three.
TEST(broken_semaphore, that_admits_one_less_is_caught) {
  const subject s = in_memory(semaphore_with_room_for<2>());
  EXPECT_THAT(findings(s, "holders_share"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "holders_are_limited"), Not(IsEmpty()));
}

// A reader that believes it holds the lock although a writer does.
TEST(broken_reader, that_ignores_writers_is_caught) {
  const subject s = readers_with(flawed_reader<flaw::pushes_in>(), memory_kind("memory/write"));
  EXPECT_THAT(findings(s, "holders_share"), IsEmpty());
  EXPECT_THAT(findings(s, "readers_keep_writer_out"), IsEmpty());
  EXPECT_THAT(findings(s, "writer_keeps_readers_out"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "readers_after_writer"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "readers_after_a_lost_writer"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "readers_and_writers_hammered"), Not(IsEmpty()));
  EXPECT_TRUE(is_found_by_threads(s, "readers_and_writers_hammered_by_two_threads"));
}

// A writer that believes it is alone although a reader holds the lock.
TEST(broken_writer, that_ignores_readers_is_caught) {
  const subject s = readers_with(memory_kind("memory/read"), flawed_writer<flaw::pushes_in>());
  EXPECT_THAT(findings(s, "holders_share"), IsEmpty());
  EXPECT_THAT(findings(s, "readers_keep_writer_out"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "hand_over"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "lease_runs_out"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "wait_timeout_is_kept"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "release_by_a_stranger"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "readers_and_writers_hammered"), Not(IsEmpty()));
  EXPECT_TRUE(is_found_by_threads(s, "readers_and_writers_hammered_by_two_threads"));
}

// Readers must not exclude each other.
TEST(broken_reader, that_excludes_readers_is_caught) {
  lock_kind alone = memory_kind("memory/read");
  alone.make = memory_kind("memory/write").make;
  const subject s = readers_with(alone, memory_kind("memory/write"));
  EXPECT_THAT(findings(s, "holders_share"), Not(IsEmpty()));
  EXPECT_THAT(findings(s, "readers_after_writer"), Not(IsEmpty()));
}

// A reader or writer that has vanished and still keeps the other out.
TEST(broken_loss, of_a_holder_that_stays_is_caught) {
  const subject late_reader =
      readers_with(flawed_reader<flaw::outlasts>(), memory_kind("memory/write"));
  EXPECT_THAT(findings(late_reader, "lease_runs_out"), Not(IsEmpty()));
  EXPECT_THAT(findings(late_reader, "readers_after_a_lost_writer"), IsEmpty());
  const subject late_writer =
      readers_with(memory_kind("memory/read"), flawed_writer<flaw::outlasts>());
  EXPECT_THAT(findings(late_writer, "readers_after_a_lost_writer"), Not(IsEmpty()));
  const subject open_reader =
      readers_with(flawed_reader<flaw::never_closes>(), memory_kind("memory/write"));
  EXPECT_THAT(findings(open_reader, "close_frees"), Not(IsEmpty()));
  const subject open_writer =
      readers_with(memory_kind("memory/read"), flawed_writer<flaw::never_closes>());
  EXPECT_THAT(findings(open_writer, "readers_after_a_lost_writer"), Not(IsEmpty()));
}

// Sound locks have no findings; a case that does not apply to the lock cannot be run.
TEST(findings, are_none_for_sound_locks) {
  const subject s = readers_with(memory_kind("memory/read"), memory_kind("memory/write"));
  EXPECT_THAT(findings(s, "writer_keeps_readers_out"), IsEmpty());
  EXPECT_THAT(findings(s, "readers_and_writers_hammered"), IsEmpty());
  EXPECT_THROW((void)findings(s, "holders_are_limited"), std::logic_error);
  EXPECT_THROW((void)findings(in_memory(memory_kind("memory/write")), "holders_share"),
               std::logic_error);
}

// Where a server fails in the middle of a case, what was opened is closed all the same: a session
// may keep its loop going until then, and the case would never end.
TEST(cases, that_cannot_go_on_close_their_sessions) {
  const subject s = in_memory(flawed_writer<flaw::serves_one>());
  for (const char* name : {"exclusion", "hand_over", "hammered", "hammered_by_two_threads"}) {
    now_open = 0;
    EXPECT_THROW((void)findings(s, name), no_server) << name;
    EXPECT_EQ(now_open, 0) << name;
  }
}

// A mistyped option would test a different lock.
TEST(findings, are_of_the_options_asked_for) {
  subject s = in_memory(memory_kind("memory/semaphore"));
  s.options["places"] = "1";
  EXPECT_EQ(most_holders(s), 1U);
  EXPECT_THAT(findings(s, "holders_are_limited"), IsEmpty());
  s.options["place"] = "1";
  EXPECT_THROW((void)findings(s, "holders_share"), std::logic_error);
}

}  // namespace
}  // namespace lockmark::conformance
