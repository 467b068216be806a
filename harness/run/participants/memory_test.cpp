// Data passed through a participant's memory arrives whole or not at all, whenever it is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <new>
#include <random>
#include <thread>

#include "harness/run/participants/assignment.hpp"
#include "harness/run/participants/interval_codec.hpp"
#include "harness/run/participants/shared_memory.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

interval random_interval(std::mt19937_64& rng) {
  interval i;
  i.start_ns = static_cast<std::int64_t>(rng() % 1'000'000'000'000);
  i.end_ns = i.start_ns + 500'000'000;
  for (stats::histogram& h : i.durations) {
    const auto n = rng() % 200;
    for (std::uint64_t k = 0; k < n; ++k) {
      const auto digits = rng() % 42;
      h.record(static_cast<std::int64_t>(rng() % (std::uint64_t{1} << (digits + 1))));
    }
    if (rng() % 4 == 0) h.record(-5);
    if (rng() % 4 == 0) h.record(stats::histogram::highest_ns + 7);
  }
  for (std::size_t c = 0; c < counter_names.size(); ++c) {
    i.counts[static_cast<counter>(c)] = rng() % 100'000;
  }
  i.sent = {rng(), rng() % 9, rng() % 9, rng() % 9, rng() % 9, rng() % 9, rng() % 9, rng() % 9};
  return i;
}

bool same(const interval& a, const interval& b) {
  bool equal = a.start_ns == b.start_ns && a.end_ns == b.end_ns && a.durations == b.durations;
  for (std::size_t c = 0; c < counter_names.size(); ++c) {
    equal = equal && a.counts[static_cast<counter>(c)] == b.counts[static_cast<counter>(c)];
  }
  const auto numbers = [](const traffic& t) {
    return std::vector{t.commands, t.round_trips, t.bytes_out, t.bytes_in,
                       t.wakeups,  t.reconnects,  t.pipe_ns,   t.late_renewals};
  };
  return equal && numbers(a.sent) == numbers(b.sent);
}

// Histograms come back equal, with their exact means and extremes.
TEST(interval_codec, is_exact) {
  std::mt19937_64 rng(3);
  for (int round = 0; round < 30; ++round) {
    const interval sent = random_interval(rng);
    interval got;
    decode(encode(sent), got);
    ASSERT_TRUE(same(sent, got)) << "round " << round;
  }
}

TEST(interval_codec, refuses_what_is_cut_short) {
  std::mt19937_64 rng(4);
  const std::string bytes = encode(random_interval(rng));
  interval got;
  EXPECT_ANY_THROW(decode(bytes.substr(0, bytes.size() - 1), got));
  got.reset();
  EXPECT_ANY_THROW(decode(bytes + "x", got));
}

struct channel {
  explicit channel(std::size_t size) : room(size), writer(state, room), reader(state, room) {}
  channel_state state;
  std::vector<char> room;
  record_writer writer;
  record_reader reader;
};

TEST(record_channel, carries_records_round_after_round) {
  channel c(100);
  for (int i = 0; i < 200; ++i) {
    const std::string record(static_cast<std::size_t>(i % 40), static_cast<char>('a' + i % 26));
    c.writer.put(record);
    ASSERT_EQ(c.reader.next(), record);
    ASSERT_EQ(c.reader.next(), std::nullopt);
  }
  EXPECT_FALSE(c.reader.overflowed());
}

TEST(record_channel, says_so_when_it_was_full) {
  channel c(64);
  c.writer.put(std::string(40, 'a'));
  EXPECT_FALSE(c.reader.overflowed());
  c.writer.put(std::string(40, 'b'));
  EXPECT_TRUE(c.reader.overflowed());
  EXPECT_EQ(c.reader.next(), std::string(40, 'a'));
  c.writer.put("c");  // would fit again, but a hole is no history
  EXPECT_EQ(c.reader.next(), std::nullopt);
}

TEST(record_channel, keeps_records_whole_between_threads) {
  channel c(1 << 12);
  const auto record = [](int i) {
    return std::string(static_cast<std::size_t>(i % 300), static_cast<char>(i % 100));
  };
  constexpr int many = 4'000;
  std::thread writer([&] {
    for (int i = 0; i < many; ++i) {
      while (c.state.written.load() - c.state.read.load() > 3'000) std::this_thread::yield();
      c.writer.put(record(i));
    }
  });
  for (int i = 0; i < many; ++i) {
    std::optional<std::string> got;
    while (!(got = c.reader.next())) std::this_thread::yield();
    ASSERT_EQ(*got, record(i));
  }
  writer.join();
  EXPECT_FALSE(c.reader.overflowed());
}

// The memory that a participant shares with this test, and its reported progress.
struct diary {
  participant_layout layout{.events = 1 << 12, .interval_bytes = 1 << 16};
  shared_memory memory{layout.bytes() + sizeof(std::atomic<std::int64_t>)};
  participant_block& block = *new (memory.data()) participant_block;
  std::atomic<std::int64_t>& noted =
      *new (memory.data() + layout.bytes()) std::atomic<std::int64_t>{0};

  // Notes events until it is killed, with a small interval after every tenth. Never overtakes the
  // reader.
  [[noreturn]] void keep() {
    check::event_writer events(block.events, layout.event_room(memory.data()));
    record_writer records(block.intervals, layout.interval_room(memory.data()));
    interval small;
    for (std::int64_t i = 1;; ++i) {
      while (block.events.written - block.events.read > layout.events / 2) continue;
      while (block.intervals.written - block.intervals.read > layout.interval_bytes / 2) continue;
      events.push({i, static_cast<std::uint64_t>(i * i), 0, 0, check::event_kind::granted});
      noted.store(i, std::memory_order_release);
      if (i % 7 == 0) events.promise(i);
      if (i % 10 != 0) continue;
      small.start_ns = i;
      small.end_ns = 2 * i;
      records.put(encode(small));
    }
  }
};

// Reads all available intervals, each of which must be whole and follow the previous one.
void read_on(record_reader& records, std::int64_t& last) {
  interval whole;
  while (const auto bytes = records.next()) {
    whole.reset();
    decode(*bytes, whole);
    EXPECT_EQ(whole.start_ns, last + 10);
    EXPECT_EQ(whole.end_ns, 2 * whole.start_ns);
    last = whole.start_ns;
  }
}

// A hundred writers are killed at random moments. All events noted are there, whole and in order;
// and so are the intervals that were handed over.
TEST(participant_memory, survives_the_death_of_its_writer_at_any_moment) {
  std::mt19937 rng(11);
  std::int64_t most = 0;
  for (int round = 0; round < 100; ++round) {
    diary d;
    const pid_t writer = fork();
    if (writer == 0) d.keep();
    ASSERT_GT(writer, 0);
    check::event_reader events(d.block.events, d.layout.event_room(d.memory.data()));
    record_reader records(d.block.intervals, d.layout.interval_room(d.memory.data()));
    std::vector<check::event> got;
    std::int64_t promised = 0;
    // Some die before their first event, most in the middle of their work.
    const auto lives_for = static_cast<std::int64_t>(rng() % 12'000);
    std::int64_t last = 0;
    while (d.noted.load() < lives_for) {
      promised = events.read(got);
      read_on(records, last);
    }
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    promised = events.read(got);
    ASSERT_GE(static_cast<std::int64_t>(got.size()), d.noted.load());
    ASSERT_GE(static_cast<std::int64_t>(got.size()), promised);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].at_ns, static_cast<std::int64_t>(i + 1));
      ASSERT_EQ(got[i].token, (i + 1) * (i + 1));
    }
    read_on(records, last);
    most = std::max(most, static_cast<std::int64_t>(got.size()));
  }
  EXPECT_GT(most, 6'000);
}

// A participant gets exactly lockmark's job, and the password.
TEST(assignment, arrives_as_it_was_sent) {
  assignment a;
  a.job = config::parse_job(
      "load: {instances: 8, clients: 3}\nparticipants: 4\nguard: register\n"
      "keys: zipf(10, 1.2)\nhold: exponential(2ms)\nstop: {duration: 5s}\n",
      "test.yaml");
  a.lock = "redis/lua";
  a.workload = "mutex";
  a.options = {{"wait_replicas", "1"}, {"odd", "a \"b\"\n"}};
  a.target = "redis://user:s3cret@127.0.0.1:6379";
  a.run_id = "20260131t090507a1";
  a.number = 2;
  a.participants = 4;
  a.common.registers = 10;
  a.own = participant_layout::for_one_of(4);
  const assignment b = read_assignment(to_text(a));
  EXPECT_TRUE(a.job == b.job);
  EXPECT_EQ(b.options, a.options);
  EXPECT_EQ(b.target, a.target);
  EXPECT_EQ(b.number, 2u);
  EXPECT_EQ(b.common.bytes(), a.common.bytes());
  EXPECT_EQ(b.own.bytes(), a.own.bytes());
}

}  // namespace
}  // namespace lockmark::run
