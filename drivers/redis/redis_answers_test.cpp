// Servers that answer wrongly: too much, too slowly, without end, or as no Redis does. Each is
// refused in one sentence, in time, and no lock is granted from its answers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drivers/redis/fake_server.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/resp.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using command = fake_server::command;
using peer = fake_server::peer;

constexpr duration limit = 2s;

const lock_kind& kind_of(std::string_view name) {
  static const std::vector<lock_kind> all = kinds();
  for (const lock_kind& k : all) {
    if (k.name == name) return k;
  }
  throw std::logic_error("no such lock");
}

std::unique_ptr<driver> driver_of(std::string_view lock, const std::string& url,
                                  const option_values& options = {}) {
  const lock_kind& k = kind_of(lock);
  driver_setup setup{.target = url, .run_names = {"test", {"a"}}, .options = options};
  for (const auto& o : k.options) setup.options.emplace(o.name, o.preset);
  return k.make(setup);
}

// An attempt, a renewal if the lock has one, a release; all by the limit.
task<void> use(loop& l, driver& d, const lock_kind& k) {
  const auto in_time = [&l] { return l.now() + limit; };
  co_await d.prepare(l, in_time());
  instance who{.id = "i"};
  const auto s = co_await d.open(l, std::move(who), in_time());
  std::exception_ptr thrown;
  try {
    request r{.lease = 10s, .deadline = l.now() + limit};
    co_await s->acquire(r);
    r.deadline = in_time();
    if (k.has.has(feature::renewable)) co_await s->renew(r);
    r.deadline = in_time();
    co_await s->release(r);
  } catch (const no_server&) {
    thrown = std::current_exception();
  }
  co_await s->close();
  if (thrown) std::rethrow_exception(thrown);
}

task<void> try_it(loop& l, driver& d, const lock_kind& k, std::string& sentence) {
  try {
    co_await use(l, d, k);
  } catch (const no_server& e) {
    sentence = e.what();
  }
}

// The driver's complaint about this server; empty if there was none.
std::string complaint(std::string_view lock, const std::string& url,
                      const option_values& options = {}) {
  const real_clock clock;
  loop l{clock};
  const auto d = driver_of(lock, url, options);
  std::string sentence;
  scope all{l};
  const time_point start = l.now();
  all.spawn(try_it(l, *d, kind_of(lock), sentence));
  l.run();
  EXPECT_LT(l.now() - start, limit + 3s) << sentence;
  return sentence;
}

struct hostile {
  const char* name;
  fake_server::behaviour answer;  // to everything
  const char* complaint;
};

bool pour(const peer& to, std::string_view head, std::string_view body) {
  bool there = to.send(head);
  while (there) there = to.send(body);
  return false;
}

std::vector<hostile> hostile_servers() {
  static const std::string block(65536, 'x');
  return {
      {"nests_arrays",
       [](const command&, const peer& to) {
         std::string nested;
         for (int i = 0; i < 8; ++i) nested += "*1048576\r\n";
         return pour(to, nested, ":1\r\n");
       },
       "answers with more than a lock can need"},
      {"announces_two_billion_bytes",
       [](const command&, const peer& to) { return pour(to, "$2000000000\r\n", block); },
       "answers with more than a lock can need"},
      {"sends_a_line_without_end",
       [](const command&, const peer& to) { return pour(to, "+", block); },
       "answers with more than a lock can need"},
      {"sends_a_byte_now_and_then",
       [](const command&, const peer& to) {
         bool there = to.send("$2000\r\n");
         while (there) there = to.pause(200) && to.send("x");
         return false;
       },
       "did not answer in time"},
      {"pours_a_little_at_a_time",
       [](const command&, const peer& to) {
         bool there = to.send("*100000\r\n");
         while (there) there = to.pause(1) && to.send(":1\r\n");
         return false;
       },
       "did not answer in time"},
      {"speaks_http",
       [](const command&, const peer& to) { return to.send("HTTP/1.1 400 Bad Request\r\n\r\n"); },
       "does not speak Redis's protocol"},
  };
}

// At the login, and after it.
TEST(hostile_servers, are_refused_in_time) {
  for (const hostile& h : hostile_servers()) {
    for (const bool at_once : {true, false}) {
      const fake_server server([&](const command& c, const peer& to) {
        if (!at_once && c.at(0) == "CLIENT") return to.send("+OK\r\n");
        return h.answer(c, to);
      });
      const std::string said = complaint("redis/lua", server.url());
      EXPECT_TRUE(said.starts_with(server.url() + " " + h.complaint)) << h.name << ": " << said;
    }
  }
}

// During a run, as the answer to a lock's own command.
TEST(hostile_servers, are_refused_in_the_middle_of_a_run) {
  for (const hostile& h : hostile_servers()) {
    if (h.complaint == std::string_view{"did not answer in time"}) continue;  // an outcome
    const fake_server server([&](const command& c, const peer& to) {
      return c.at(0) == "SETNX" ? h.answer(c, to) : to.send(usual_answer(c));
    });
    EXPECT_THAT(complaint("redis/setnx", server.url()), HasSubstr(h.complaint)) << h.name;
  }
}

// A subscriber that receives messages that no Redis sends.
TEST(hostile_servers, are_refused_by_subscribers) {
  for (const char* sent :
       {"*3\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n", "*0\r\n", "$-1\r\n", "*1048576\r\n", "?\r\n",
        "-NOPERM this user has no permissions to access one of the channels\r\n"}) {
    const fake_server server([&](const command& c, const peer& to) {
      if (c.at(0) == "SUBSCRIBE") return to.send(sent);
      if (c.at(0).starts_with("EVAL")) return to.send(":30000\r\n");
      return to.send(usual_answer(c));
    });
    EXPECT_THAT(complaint("redis/redisson", server.url()), HasSubstr(server.url())) << sent;
  }
}

struct wrong {
  const char* lock;
  const char* command;
  const char* answer;
  const char* complaint;
};

// Each of these was once mistaken for something else, or read beyond its end.
TEST(wrong_answers, are_one_sentence) {
  for (const wrong& w : std::vector<wrong>{
           {"redis/setnx", "SETNX", "+OK\r\n", "answered SETNX with the status 'OK'"},
           {"redis/setnx", "DEL", "*0\r\n", "answered DEL with a list of 0"},
           {"redis/set_nx_px", "SET", ":0\r\n", "answered SET with the number 0"},
           {"redis/lua", "EVALSHA", "$1\r\n1\r\n", "answered EVALSHA with the text '1'"},
           {"redis/lua", "EVALSHA", "-NOSCRIPT no\r\n", "answered EVAL with an error: NOSCRIPT no"},
           {"redis/lua", "INFO", ":1\r\n", "answered INFO with the number 1"},
           {"redis/redisson", "EVALSHA", "*0\r\n",
            "answered a script of the lock with a list of 0"},
           {"redis/redisson_fenced", "EVALSHA", "*1\r\n:1\r\n", "with a list of 1"},
           {"redis/redisson_fenced", "EVALSHA", ":1\r\n", "with the number 1"},
           {"redis/redisson_fair", "TIME", "*1\r\n$1\r\n1\r\n", "does not tell its time"},
           {"redis/getset", "TIME", "*2\r\n$19\r\n9223372036854775807\r\n$1\r\n0\r\n",
            "does not tell its time"}}) {
    const fake_server server([&](const command& c, const peer& to) {
      const bool is_it = c.at(0) == w.command || (c.at(0) == "EVAL" && w.answer[1] == 'N');
      return to.send(is_it ? w.answer : usual_answer(c));
    });
    const std::string said = complaint(w.lock, server.url());
    EXPECT_THAT(said, HasSubstr(w.complaint)) << w.lock << " " << w.command;
    EXPECT_THAT(said, HasSubstr(server.url()));
  }
}

// The holder's lease may be any number: a waiter waits until its own deadline.
TEST(wrong_answers, do_not_overflow) {
  for (const char* pttl : {":9223372036854775807\r\n", ":-9223372036854775808\r\n"}) {
    const fake_server server([&](const command& c, const peer& to) {
      if (c.at(0).starts_with("EVAL")) return to.send(pttl);
      if (c.at(0) != "SUBSCRIBE") return to.send(usual_answer(c));
      return to.send("*3\r\n" + as_text("subscribe") + as_text(c.at(1)) + ":1\r\n");
    });
    EXPECT_THAT(complaint("redis/redisson", server.url()), HasSubstr("with the number")) << pttl;
  }
}

}  // namespace
}  // namespace lockmark::redis
