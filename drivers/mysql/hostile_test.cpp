// A server, whatever it says, cannot crash or hang us, or take memory, files or passwords.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/fake_server.hpp"
#include "drivers/mysql/limits.hpp"
#include "drivers/mysql/mysql.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

// Ample time for a connection, even on a busy machine.
constexpr duration patience = 20s;

struct hostile : testing::Test {
  hostile() { prepare_library(); }

  real_clock clock;
  loop l{clock};
  traffic unused;
  endpoint where;  // of the server asked last; its answer points to it

  struct end {
    std::string sentence;  // of the exception, or of the failed login
    answer said;
    duration took{};
  };

  // Logs in and asks once.
  end ask(const fake::server& peer, std::string sql = "SELECT 1", duration within = patience,
          const std::string& query = "") {
    where = read_servers(peer.url() + query).hosts[0];
    end e;
    run_to_end(l, talk(*this, where, std::move(sql), within, e));
    return e;
  }
  static task<void> talk(hostile& t, const endpoint& where, std::string sql, duration within,
                         end& e) {
    const time_point start = t.l.now();
    try {
      connection c{t.l, t.unused};
      const connect_failure failure = co_await c.connect(where, t.l.now() + within);
      if (failure.error != 0) {
        e.sentence = sentence(where, failure);
      } else {
        e.said = co_await c.query(std::move(sql), t.l.now() + within);
      }
    } catch (const no_server& refused) {
      e.sentence = refused.what();
    }
    e.took = t.l.now() - start;
  }
};

fake::script saying(fake::reply r) {
  fake::script s;
  s.answer = [r](std::string_view) { return r; };
  return s;
}

// The fake server and the client library speak the same protocol.
TEST_F(hostile, an_honest_server_is_understood) {
  const fake::server peer{saying({fake::result({"a", "b"}, {{"12", std::nullopt}, {"x", ""}})})};
  const end e = ask(peer);
  EXPECT_EQ(e.sentence, "");
  ASSERT_EQ(e.said.rows(), 2U);
  EXPECT_EQ(e.said.at(0, 2).number(0), 12U);
  EXPECT_FALSE(e.said.at(0, 2).cell(1).has_value());
  EXPECT_EQ(e.said.at(1, 2).text(0), "x");
  EXPECT_EQ(e.said.at(1, 2).text(1), "");
}

// Inconsistent answers: each gives one sentence with the server, the statement and the fault.
TEST_F(hostile, answers_that_make_no_sense) {
  using fake::definition;
  using fake::end_of_rows;
  using fake::in_packets;
  const std::vector<std::string> crowd(columns_limit + 1, definition("c"));
  std::vector<std::string> too_wide = {fake::number(crowd.size())};
  too_wide.insert(too_wide.end(), crowd.begin(), crowd.end());
  too_wide.push_back(end_of_rows());
  const std::pair<const char*, std::string> lies[] = {
      {"more columns defined than announced",
       in_packets({"\1", definition("a"), definition("b"), end_of_rows(), end_of_rows()})},
      {"fewer", in_packets({"\2", definition("a"), end_of_rows(), end_of_rows()})},
      {"four billion columns",
       in_packets({fake::number(0xffffffff), definition("a"), end_of_rows()})},
      {"more columns than anything has", in_packets(too_wide)},
      {"a text longer than its row",
       in_packets({"\1", definition("a"), end_of_rows(), "\x20x", end_of_rows()})},
      {"an endless text",
       in_packets({"\1", definition("a"), end_of_rows(), "\xfe\xff\xff\xff\xff\xff\xff\xff\xff"})},
      {"an error without words", fake::packet(1, "\xff\x01")},
      {"an error of the client's", fake::error(2013, "Lost connection")},
      {"a file, please", fake::packet(1, "\xfb/etc/hostname") + fake::ok(0, 3)},
  };
  for (const auto& [name, bytes] : lies) {
    const fake::server peer{saying({bytes})};
    const end e = ask(peer);
    EXPECT_THAT(e.sentence, AllOf(HasSubstr("mysql://127.0.0.1:"), HasSubstr("'SELECT 1'"),
                                  HasSubstr("no MySQL or MariaDB server says")))
        << name;
    EXPECT_EQ(std::ranges::count(e.sentence, '\n'), 0) << name;
  }
}

// The library would make room for all of them at once.
TEST_F(hostile, no_more_columns_are_believed_than_anything_has) {
  using fake::definition;
  for (const std::uint64_t count : {std::uint64_t{columns_limit + 1}, std::uint64_t{250},
                                    std::uint64_t{0xc0cffff}, UINT64_MAX}) {
    const fake::server peer{
        saying({fake::in_packets({fake::number(count), definition("a"), fake::end_of_rows()})})};
    EXPECT_THAT(ask(peer).sentence,
                AnyOf(HasSubstr("too many columns"), HasSubstr("allowed number of columns")))
        << count;
  }
}

// Incomplete definitions are ignored and do no harm.
TEST_F(hostile, definitions_are_not_believed) {
  for (const std::string& definition :
       {std::string{"\xfb\xfb\xfb\xfb\xfb\xfb\xfb"}, std::string{"x"}, std::string{"\0", 1}}) {
    const fake::server peer{saying({fake::in_packets(
        {"\1", definition, fake::end_of_rows(), fake::row({"12"}), fake::end_of_rows()})})};
    const end e = ask(peer);
    const bool refused = e.sentence.find("no MySQL or MariaDB server says") != std::string::npos;
    EXPECT_TRUE(refused || e.said.at(0, 1).number(0) == 12) << e.sentence;
  }
}

// A valid shape, but not that of this statement's answer.
TEST_F(hostile, rows_of_another_shape) {
  const fake::server peer{saying({fake::result({"a"}, {{"1 "}, {std::nullopt}, {"a\nb\x80"}})})};
  const end e = ask(peer);
  const auto said = [&](auto look) -> std::string {
    try {
      look();
    } catch (const no_server& refused) {
      return refused.what();
    }
    return "";
  };
  const answer& a = e.said;
  EXPECT_THAT(said([&] { a.at(3, 1); }), HasSubstr("answered 'SELECT 1' with 3 rows"));
  EXPECT_THAT(said([&] { a.at(0, 2); }), HasSubstr("rows of 1 columns, where a row of 2"));
  EXPECT_THAT(said([&] { a.at(0, 1).number(0); }), HasSubstr("'1 ' in column 1, where a whole"));
  EXPECT_THAT(said([&] { a.at(1, 1).number(0); }), HasSubstr("NULL in column 1, where a whole"));
  EXPECT_THAT(said([&] { a.at(1, 1).text(0); }), HasSubstr("NULL in column 1, where a text"));
  EXPECT_THAT(said([&] { a.at(2, 1).number(0); }), HasSubstr("'a.b.'"));
  EXPECT_FALSE(whole_number("18446744073709551616"));
  EXPECT_FALSE(whole_number("-1"));
  EXPECT_FALSE(whole_number(""));
}

// The process's peak memory since the last call, in bytes.
std::size_t peak_memory() {
  std::ifstream status{"/proc/self/status"};
  std::string word;
  std::size_t kilobytes = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> kilobytes;
  }
  std::ofstream{"/proc/self/clear_refs"} << "5";
  return kilobytes << 10;
}

// Endless bytes, as fast as possible. Little of them is kept.
TEST_F(hostile, floods_are_cut_off) {
  const std::string several = fake::in_packets(
      std::vector<std::string>(200, fake::definition("a column whose name is this long")));
  const std::string one_column =
      fake::in_packets({"\1", fake::definition("a"), fake::end_of_rows()});
  const std::string many_columns = [] {
    std::vector<std::string> all = {"\x40"};
    all.insert(all.end(), 64, fake::definition("c"));
    all.push_back(fake::end_of_rows());
    return fake::in_packets(all);
  }();
  const auto rows = [](std::size_t columns, const std::string& cell) {
    std::string row;
    for (std::size_t i = 0; i < columns; ++i) row += cell;
    return fake::in_packets(std::vector<std::string>(500, row));
  };
  const std::string largest(0xffffff, 'x');
  struct flood {
    const char* name;
    std::string head;
    std::string again;
  };
  const flood floods[] = {
      {"definitions", "", fake::packet(1, "\1") + several},
      {"rows", one_column, rows(1, fake::text("a value of some length, not too short"))},
      {"rows of nothing", many_columns, rows(64, "\xfb")},
      {"packets that go on in packets", one_column, fake::packet(1, largest)},
      {"words", "", fake::packet(1, '\xff' + std::string{"\1\4"} + largest.substr(3))},
  };
  for (const flood& f : floods) {
    bool first = true;
    fake::script s;
    s.answer = [&](std::string_view) {
      return fake::reply{std::exchange(first, false) ? f.head + f.again : f.again, 0, {}, true};
    };
    const fake::server peer{s};
    const std::size_t before = peak_memory();
    const end e = ask(peer);
    const std::size_t after = peak_memory();
    EXPECT_NE(e.sentence, "") << f.name;
    EXPECT_LT(after, before + packet_limit + 2 * rows_limit + (std::size_t{8} << 20)) << f.name;
    EXPECT_LT(e.took, 5s) << f.name << ": " << e.sentence;
  }
}

// A deadline holds although bytes keep coming.
TEST_F(hostile, trickling_does_not_put_off_deadlines) {
  constexpr duration limit = 150ms;
  constexpr duration late = 3s;  // a byte every 2 ms is 8 s for the answer, 300 ms for the greeting
  const std::string answer = fake::result({"a"}, {{std::string(4000, 'x')}});
  const fake::server slow{saying({answer, 1, 2ms})};
  const end e = ask(slow, "SELECT 1", limit);
  EXPECT_EQ(e.said.unknown, doubt::deadline) << e.sentence;
  EXPECT_LT(e.took, late);

  fake::script s;
  s.first = {fake::greeting(), 1, 100ms};
  const fake::server slow_to_greet{s};
  const end greeted = ask(slow_to_greet, "SELECT 1", limit);
  EXPECT_THAT(greeted.sentence, HasSubstr("no answer to the login within the time allowed"));
  EXPECT_LT(greeted.took, late);

  s = {};
  s.login = [](std::string_view) {
    return fake::reply{fake::other_login("mysql_native_password")};
  };
  const fake::server never_content{s};
  const end login = ask(never_content, "SELECT 1", limit);
  EXPECT_NE(login.sentence, "");
  EXPECT_LT(login.took, late);
}

// A file is not sent even if the statement could ask for it.
TEST_F(hostile, no_file_is_sent) {
  const std::string file = testing::TempDir() + "lockmark_hostile_test";
  std::ofstream{file} << "what nobody else should read";
  const fake::server peer{saying({fake::packet(1, "\xfb" + file) + fake::ok(0, 3)})};
  const end e = ask(peer, "LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE t");
  EXPECT_THAT(e.sentence, HasSubstr("local infile"));
  EXPECT_THAT(peer.received(), Not(HasSubstr("nobody else")));
  std::remove(file.c_str());
}

// No server gets the password in plain text, neither at once nor later, unless TLS is verified.
TEST_F(hostile, no_password_is_sent_in_clear) {
  for (const char* plugin : {"mysql_clear_password", "dialog"}) {
    for (const bool at_once : {true, false}) {
      for (const char* query : {"", "?tls=yes&verify=no"}) {
        fake::script s;
        if (at_once) s.first = {fake::greeting(plugin)};
        s.login = [=, asked = at_once](std::string_view) mutable {
          if (std::exchange(asked, true)) return fake::reply{fake::ok(0, 4)};
          return fake::reply{fake::other_login(plugin)};
        };
        const fake::server peer{s};
        const end e = ask(peer, "SELECT 1", patience, query);
        EXPECT_THAT(peer.received(), Not(HasSubstr("hunter2"))) << plugin << at_once << query;
        EXPECT_THAT(e.sentence, AllOf(HasSubstr("TLS"), Not(HasSubstr("hunter2"))));
      }
    }
  }
}

// A client that asks for TLS never goes on without it, verified or not.
TEST_F(hostile, tls_is_not_given_up) {
  const fake::server peer{saying({fake::ok()})};
  for (const char* query : {"?tls=yes", "?tls=yes&verify=no"}) {
    EXPECT_THAT(ask(peer, "SELECT 1", patience, query).sentence, HasSubstr("TLS failed"));
  }
}

// Every statement of every lock, answered with every wrong shape.
task<void> hold_once(loop& l, driver& d) {
  const time_point limit = l.now() + patience;
  instance who{.id = "i", .number = 0, .clients = 1, .session_timeout = {}};
  const auto s = co_await d.open(l, who, limit);
  const request r{.key = 0, .client = 0, .lease = 1s, .deadline = limit, .grace = 1s};
  std::exception_ptr thrown;
  try {
    const auto got = co_await s->acquire(r);
    if (got.done()) co_await s->release(r);
  } catch (const no_server&) {
    thrown = std::current_exception();
  }
  co_await s->close();
  if (thrown) std::rethrow_exception(thrown);
}
task<void> prepare(loop& l, driver& d) {
  co_await d.prepare(l, l.now() + patience);
}
task<void> look_ahead(loop& l, driver& d) {
  co_await d.preflight(l, {}, l.now() + patience);
}
task<void> count(loop& l, driver& d) {
  co_await d.counters(l, l.now() + patience);
}
task<void> count_commits(loop& l, driver& d) {
  co_await d.commits(l, l.now() + patience);
}
task<void> wipe(loop& l, driver& d) {
  co_await d.wipe(l, l.now() + patience);
}

TEST_F(hostile, no_lock_trusts_an_answer) {
  const std::string shapes[] = {
      fake::ok(),
      fake::ok(7),
      fake::result({"a"}, {}),
      fake::result({"a"}, {{std::nullopt}}),
      fake::result({"a"}, {{"x"}}),
      fake::result({"a", "b"}, {{std::nullopt, std::nullopt}}),
      fake::result({"a", "b"}, {{"1", std::string(100'000, '9')}}),
      fake::result({"a", "b", "c"}, {{"x'; DROP", "-1", "1e3"}}),
      fake::result({"a", "b", "c", "d"}, {{"", "", "", ""}}),
      fake::result({"a"}, {{"1"}}, 2 | 8),  // more results to come
      fake::error(1146, "no\nsuch table"),
      fake::error(1, ""),
  };
  for (const lock_kind& kind : kinds()) {
    for (const std::string& shape : shapes) {
      fake::script s;
      s.answer = [&](std::string_view sql) -> fake::reply {
        if (sql == "SELECT @@global.read_only") return {fake::result({"r"}, {{"0"}})};
        if (sql.starts_with("SET SESSION")) return {fake::ok()};
        return {shape};
      };
      const fake::server peer{s};
      driver_setup setup{.target = peer.url(), .run_names = {"liar", {"k0"}}, .options = {}};
      for (const lock_option& o : kind.options) setup.options[std::string{o.name}] = o.preset;
      const auto d = kind.make(setup);
      for (const auto scene : {prepare, look_ahead, hold_once, count, count_commits, wipe}) {
        if (scene == count_commits && !kind.has.has(feature::optimistic)) continue;
        try {
          run_to_end(l, scene(l, *d));
        } catch (const no_server& refused) {
          EXPECT_THAT(refused.what(), HasSubstr("127.0.0.1")) << kind.name;
          EXPECT_EQ(std::ranges::count(std::string{refused.what()}, '\n'), 0) << refused.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace lockmark::mysql
