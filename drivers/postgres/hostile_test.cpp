// A server, whatever it says, cannot crash or hang us, or take memory or passwords.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/fake_server.hpp"
#include "drivers/postgres/postgres.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::postgres {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Ample time for a connection, even on a busy machine.
constexpr duration patience = 20s;

struct hostile : testing::Test {
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
    where = read_servers(peer.url() + query)[0];
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
      if (failure.failed()) {
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

fake::script logging_in(fake::reply r) {
  fake::script s;
  s.login = [r](std::string_view) { return r; };
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

// An answer that ends the session is no answer to the statement.
TEST_F(hostile, a_last_word_leaves_the_statement_in_doubt) {
  const fake::server peer{
      saying({fake::error("57P01", "shutting down", "FATAL"), 0, {}, false, true})};
  EXPECT_EQ(ask(peer).said.unknown, doubt::connection_lost);
  const fake::server rude{saying({fake::description({"a"}), 0, {}, false, true})};
  EXPECT_EQ(ask(rude).said.unknown, doubt::connection_lost);
}

// Inconsistent answers: each gives one sentence with the server, the statement and the fault.
TEST_F(hostile, answers_that_make_no_sense) {
  using fake::message;
  using fake::number;
  const std::pair<const char*, std::string> lies[] = {
      {"a row without a description", fake::row({"a"}) + fake::done()},
      {"a row of more cells than there are columns",
       fake::description({"a"}) + fake::row({"a", "b"}) + fake::done()},
      {"a cell longer than its row",
       fake::description({"a"}) + message('D', number(1, 2) + number(99, 4) + "x") + fake::done()},
      {"columns that end too early", message('T', number(3, 2) + "a") + fake::done()},
      {"a message shorter than its length", "C" + number(2, 4)},
      {"no message of the protocol", message('?', "what")},
      {"a long message of a short kind", message('C', std::string(40'000, 'x'))},
      {"text of some other protocol", "HTTP/1.1 400 Bad Request\r\n\r\n"},
      {"an error without a state", message('E', std::string{"SERROR\0Mno\0\0", 12})},
      {"data to be copied", message('H', std::string{"\0\0\0", 3})},
      {"data, please", message('G', std::string{"\0\0\0", 3})},
  };
  for (const auto& [name, bytes] : lies) {
    const fake::server peer{saying({bytes})};
    const end e = ask(peer);
    EXPECT_THAT(e.sentence, AllOf(HasSubstr("postgres://127.0.0.1:"), HasSubstr("'SELECT 1'"),
                                  HasSubstr("no PostgreSQL server says")))
        << name;
    EXPECT_EQ(std::ranges::count(e.sentence, '\n'), 0) << name;
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
  EXPECT_THAT(said([&] { a.at(0, 1).truth(0); }), HasSubstr("'1 ' in column 1, where t or f"));
  EXPECT_THAT(said([&] { a.at(1, 1).number(0); }), HasSubstr("NULL in column 1, where a whole"));
  EXPECT_THAT(said([&] { a.at(1, 1).text(0); }), HasSubstr("NULL in column 1, where a text"));
  EXPECT_THAT(said([&] { a.at(1, 1).truth(0); }), HasSubstr("NULL in column 1, where t or f"));
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

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// Endless bytes, as fast as possible. Little of them is kept.
TEST_F(hostile, floods_are_cut_off) {
  constexpr std::size_t bearable = std::size_t{24} << 20;
  const std::string columns = fake::description(fake::cells(64, "c"));
  struct flood {
    const char* name;
    std::string head;
    std::string again;
  };
  const flood floods[] = {
      {"rows", fake::description({"a"}), repeated(fake::row({"a value, not too short"}), 500)},
      {"rows of nothing", columns, repeated(fake::row(fake::cells(64, std::nullopt)), 100)},
      {"descriptions", "", repeated(columns, 100)},
      {"notes", "", repeated(fake::message('N', "SNOTE\0"), 500)},
      {"notifications", "",
       repeated(fake::message('A', fake::number(1, 4) + std::string{"a\0b\0", 4}), 500)},
      {"one endless row", "D" + fake::number(0x7fffffff, 4), std::string(65536, 'x')},
      {"one endless error", "E" + fake::number(0x7fffffff, 4), std::string(65536, 'x')},
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
    EXPECT_LT(after, before + bearable) << f.name;
    EXPECT_LT(e.took, 5s) << f.name << ": " << e.sentence;
  }
  const std::pair<const char*, std::string> logins[] = {
      {"parameters", fake::message('R', fake::number(0, 4)) +
                         repeated(fake::parameter("some_parameter", "of some length"), 500)},
      {"one endless error", "E" + fake::number(0x7000, 4) + std::string(65536, 'x')},
  };
  for (const auto& [name, bytes] : logins) {
    const fake::server peer{logging_in({bytes, 0, {}, true})};
    const std::size_t before = peak_memory();
    const end e = ask(peer);
    EXPECT_NE(e.sentence, "") << name;
    EXPECT_LT(peak_memory(), before + bearable) << name;
    EXPECT_LT(e.took, 5s) << name << ": " << e.sentence;
  }
}

task<void> ask_again_and_again(hostile& t, const endpoint& where, std::string& sentence) {
  connection c{t.l, t.unused};
  co_await connect_or_throw(c, where, t.l.now() + patience);
  try {
    for (int n = 0; n < 5000; ++n) co_await must(c, "ask", "SELECT 1", t.l.now() + patience);
  } catch (const no_server& refused) {
    sentence = refused.what();
  }
}

// What the library keeps for ever, a little with each answer.
TEST_F(hostile, what_adds_up_is_cut_off) {
  int count = 0;
  fake::script s;
  s.answer = [&](std::string_view) {
    std::string all;
    for (int n = 0; n < 20; ++n) {
      all += fake::parameter("parameter_" + std::to_string(++count), std::string(400, 'x'));
    }
    return fake::reply{all + fake::done()};
  };
  const fake::server peer{s};
  where = read_servers(peer.url())[0];
  std::string sentence;
  run_to_end(l, ask_again_and_again(*this, where, sentence));
  EXPECT_THAT(sentence, HasSubstr("more than"));
}

// A deadline holds although bytes keep coming.
TEST_F(hostile, trickling_does_not_put_off_deadlines) {
  constexpr duration limit = 150ms;
  constexpr duration late = 3s;  // a byte every 2 ms is 8 s for the answer
  const std::string answer = fake::result({"a"}, {{std::string(4000, 'x')}});
  const fake::server slow{saying({answer, 1, 2ms})};
  const end e = ask(slow, "SELECT 1", limit);
  EXPECT_EQ(e.said.unknown, doubt::deadline) << e.sentence;
  EXPECT_LT(e.took, late);

  const fake::server slow_to_greet{logging_in({fake::welcome(), 1, 100ms})};
  const end greeted = ask(slow_to_greet, "SELECT 1", limit);
  EXPECT_THAT(greeted.sentence, HasSubstr("no answer to the login within the time allowed"));
  EXPECT_LT(greeted.took, late);
}

// No server gets the password in plain text, neither at once nor later, unless TLS is verified.
TEST_F(hostile, no_password_is_sent_in_clear) {
  const fake::server at_once{logging_in({fake::demand_password(3)})};
  fake::script s;
  s.login = [asked = false](std::string_view) mutable {
    return fake::reply{fake::demand_password(std::exchange(asked, true) ? 3 : 5)};
  };
  const fake::server later{s};
  for (const fake::server* peer : {&at_once, &later}) {
    const end e = ask(*peer);
    EXPECT_THAT(peer->received(), Not(HasSubstr("hunter2")));
    EXPECT_THAT(e.sentence, AllOf(HasSubstr("TLS"), Not(HasSubstr("hunter2"))));
  }
}

// A client that asks for TLS never goes on without it, verified or not.
TEST_F(hostile, tls_is_not_given_up) {
  const fake::server peer{saying({fake::done()})};
  for (const char* query : {"?tls=yes", "?tls=yes&verify=no", "?sslmode=require"}) {
    EXPECT_THAT(ask(peer, "SELECT 1", patience, query).sentence, HasSubstr("TLS failed")) << query;
  }
}

// What is no server of this kind.
TEST_F(hostile, strangers_are_named) {
  for (const char* text : {"", "HTTP/1.1 400 Bad Request\r\n\r\n", "-ERR unknown command\r\n"}) {
    const fake::server peer{logging_in({text, 0, {}, false, true})};
    EXPECT_THAT(ask(peer).sentence, HasSubstr("is no PostgreSQL server")) << text;
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
    if (got.done()) {
      const auto more = co_await s->renew(r);
      EXPECT_FALSE(more.in_doubt());
      co_await s->release(r);
    }
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
task<void> wipe(loop& l, driver& d) {
  co_await d.wipe(l, l.now() + 200ms);
}

TEST_F(hostile, no_lock_trusts_an_answer) {
  const std::string shapes[] = {
      fake::done(),
      fake::done("UPDATE 7"),
      fake::done("nonsense"),
      fake::result({"a"}, {}),
      fake::result({"a"}, {{std::nullopt}}),
      fake::result({"a"}, {{"x"}}),
      fake::result({"a"}, {{"t"}}),
      fake::result({"a", "b"}, {{std::nullopt, std::nullopt}}),
      fake::result({"a", "b"}, {{"1", std::string(100'000, '9')}}),
      fake::result({"a", "b", "c"}, {{"x'; DROP", "-1", "1e3"}}),
      fake::result({"a", "b", "c", "d"}, {{"", "", "", ""}}),
      fake::done() + fake::done(),
      fake::error("42P01", "no\nsuch table"),
      fake::error("XX000", ""),
      fake::error("55P03", "locked"),
  };
  for (const lock_kind& kind : kinds()) {
    for (const std::string& shape : shapes) {
      fake::script s;
      s.answer = [&](std::string_view sql) -> fake::reply {
        if (const auto r = fake::route_answer(sql)) return *r;
        return {sql.starts_with("SET") ? fake::done("SET") : shape};
      };
      const fake::server peer{s};
      driver_setup setup{.target = peer.url(), .run_names = {"liar", {"k0"}}, .options = {}};
      for (const lock_option& o : kind.options) setup.options[std::string{o.name}] = o.preset;
      const auto d = kind.make(setup);
      for (const auto scene : {prepare, look_ahead, hold_once, count, wipe}) {
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
}  // namespace lockmark::postgres
