// No answer of a server can make us crash, hang or use much memory, and none is taken for a grant.
// The servers here are real sockets that send what each test specifies.
#include <gmock/gmock.h>

#include <fstream>

#include "drivers/etcd/etcd.hpp"
#include "drivers/etcd/fake_server.hpp"
#include "drivers/etcd/grpc_frames.hpp"
#include "harness/async/scope.hpp"
#include "harness/driver.hpp"

namespace lockmark::etcd {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;

constexpr duration limit = 2s;

struct ending {
  std::string sentence;
  std::string acquired = "not asked";
  duration took{};
};

std::string say(const outcome<grant>& o) {
  if (o.done()) return "done";
  return std::string{o.refused() ? name_of(o.why_refused()) : name_of(o.why_in_doubt())};
}

std::unique_ptr<driver> driver_of(const lock_kind& kind, const std::string& url) {
  driver_setup setup{.target = url, .run_names = {"test", {"a"}}, .options = {}};
  for (const lock_option& o : kind.options) setup.options.emplace(o.name, o.preset);
  return kind.make(setup);
}

// A session, an attempt, a release; all by the limit.
task<void> use(loop& l, driver& d, ending& e) {
  std::unique_ptr<session> s;
  try {
    instance who{.id = "i"};
    s = co_await d.open(l, std::move(who), l.now() + limit);
    const request r{.lease = 10s, .deadline = l.now() + limit};
    const auto got = co_await s->acquire(r);
    e.acquired = say(got);
    const request again{.lease = 10s, .deadline = l.now() + limit};
    const auto released = co_await s->release(again);
    EXPECT_FALSE(released.done() && !got.done());
  } catch (const no_server& refused) {
    e.sentence = refused.what();
  }
  if (s) co_await s->close();
}

ending used(const std::string& url, const lock_kind& kind) {
  const real_clock clock;
  loop l{clock};
  const auto d = driver_of(kind, url);
  ending e;
  const time_point start = l.now();
  run_to_end(l, use(l, *d, e));
  e.took = l.now() - start;
  return e;
}

ending used(const fake_server& server, const lock_kind& kind = mutex()) {
  return used(server.url(), kind);
}

// The process's peak memory since the last call, in bytes.
std::size_t peak_memory() {
  std::ifstream status_of_process{"/proc/self/status"};
  std::string word;
  std::size_t kilobytes = 0;
  while (status_of_process >> word) {
    if (word == "VmHWM:") status_of_process >> kilobytes;
  }
  std::ofstream{"/proc/self/clear_refs"} << "5";
  return kilobytes << 10;
}

// All in one piece, and a byte at a time.
TEST(an_honest_etcd, is_understood) {
  for (const int drip : {0, 1}) {
    const fake_server server{{.answer = answer_honestly, .drip_ms = drip}};
    const ending e = used(server);
    EXPECT_EQ(e.sentence, "");
    EXPECT_EQ(e.acquired, "done") << drip;
  }
}

// Servers that are none, or behind TLS: one sentence with the server's name, soon, and with little
// memory.
TEST(no_etcd, is_refused_in_a_sentence) {
  const std::pair<std::string, const char*> greetings[] = {
      {"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "said what no etcd server says"},
      {"+OK\r\n+OK\r\n+OK\r\n", "said what no etcd server says"},
      {std::string(65536, 'x'), "said what no etcd server says"},
      {"\x15\3\1\0\2\2\x46"s + std::string(9, 'x'), "said what no etcd server says"},
  };
  for (const auto& [greeting, complaint] : greetings) {
    const fake_server server{{.answer = {}, .greeting = greeting, .endless = true}};
    const std::size_t before = peak_memory();
    const ending e = used(server);
    EXPECT_THAT(e.sentence, AllOf(HasSubstr(server.url()), HasSubstr(complaint)));
    EXPECT_LT(e.took, limit + 3s);
    EXPECT_LT(peak_memory(), before + (std::size_t{32} << 20));
  }
}

// A server that accepts and says nothing, or next to nothing, costs no more than the time allowed.
TEST(a_silent_etcd, does_not_put_off_deadlines) {
  const fake_server server{{.answer = {}, .greeting = "\0"s, .drip_ms = 100}};
  const ending e = used(server);
  EXPECT_THAT(e.sentence, HasSubstr(server.url()));
  EXPECT_LT(e.took, limit + 3s);
}

struct lie {
  const char* name;
  const char* call;  // to which it is the answer
  std::function<void(fake_peer&, const fake_peer::call&)> tell;
  const char* complaint;
};

void talk_rubbish(fake_peer& p, const fake_peer::call& c) {
  p.answer(c.id, "\xff\xff\xff");
}
void talk_without_end(fake_peer& p, const fake_peer::call& c) {
  for (int n = 0; n < 30; ++n) p.say(c.id, framed(std::string(largest_message, 'x')));
}

TEST(a_lying_etcd, is_not_believed) {
  const lie lies[] = {
      {"rubbish", "Txn", talk_rubbish, "answered Txn with what no etcd server says"},
      {"nothing", "Txn", [](auto& p, const auto& c) { p.end(c.id, 0); },
       "answered Txn with what no etcd server says"},
      {"two answers", "Txn",
       [](auto& p, const auto& c) {
         p.say(c.id, framed("a"));
         p.say(c.id, framed("b"));
       },
       "a second answer to one call"},
      {"much", "Txn", talk_without_end, "a second answer to one call"},
      {"too much at once", "Txn",
       [](auto& p, const auto& c) { p.say(c.id, "\0\x7f\xff\xff\xff"s); },
       "a message of 2147483647 bytes"},
      {"an error", "Txn", [](auto& p, const auto& c) { p.end(c.id, 13, "a bug"); },
       "answered Txn with an error: code 13: a bug"},
      {"no rights", "Txn",
       [](auto& p, const auto& c) { p.end(c.id, 7, "etcdserver: permission denied"); },
       "name a user who may read and write below lockmark/"},
      {"no space", "Txn",
       [](auto& p, const auto& c) { p.end(c.id, 8, "etcdserver: mvcc: database space exceeded"); },
       "etcdctl alarm disarm"},
      {"no lease", "LeaseGrant", talk_rubbish, "answered LeaseGrant with what no etcd server says"},
      {"no number", "DeleteRange", talk_rubbish,
       "answered DeleteRange with what no etcd server says"},
  };
  for (const lie& l : lies) {
    const fake_server server{{.answer = [&l](fake_peer& p, const fake_peer::call& c) {
      if (c.name() != l.call) return answer_honestly(p, c);
      l.tell(p, c);
    }}};
    const std::size_t before = peak_memory();
    const ending e = used(server);
    EXPECT_THAT(e.sentence, AllOf(HasSubstr(server.url()), HasSubstr(l.complaint))) << l.name;
    EXPECT_LT(e.took, limit + 3s) << l.name;
    EXPECT_LT(peak_memory(), before + (std::size_t{32} << 20)) << l.name;
  }
}

// Troubles that pass are outcomes: certainly not taken, or in doubt.
TEST(an_etcd_in_trouble, is_told_apart) {
  const std::tuple<int, const char*, const char*> troubles[] = {
      {14, "etcdserver: no leader", "unavailable"},
      {8, "etcdserver: too many requests", "unavailable"},
      {14, "etcdserver: request timed out", "doubt: deadline"},
      {14, "etcdserver: leader changed", "doubt: deadline"},
  };
  for (const auto& [code, words, expected] : troubles) {
    const fake_server server{{.answer = [&](fake_peer& p, const fake_peer::call& c) {
      if (c.name() != "Txn") return answer_honestly(p, c);
      p.end(c.id, code, words);
    }}};
    const ending e = used(server);
    EXPECT_EQ(e.sentence, "");
    EXPECT_EQ(e.acquired, expected) << words;
  }
}

// The connection breaks where the answer is due.
TEST(an_etcd_in_trouble, leaves_a_doubt_when_it_breaks) {
  const fake_server server{{.answer = [](fake_peer& p, const fake_peer::call& c) {
    if (c.name() != "Txn") return answer_honestly(p, c);
    p.reset(c.id, 2);
  }}};
  EXPECT_EQ(used(server).acquired, "doubt: connection lost");
}

// A lease that has ended is replaced once, and not again and again.
TEST(an_etcd_without_leases, is_asked_twice) {
  std::atomic<int> asked = 0;
  const fake_server server{{.answer = [&](fake_peer& p, const fake_peer::call& c) {
    if (c.name() != "Txn") return answer_honestly(p, c);
    ++asked;
    p.end(c.id, 5, "etcdserver: requested lease not found");
  }}};
  EXPECT_EQ(used(server).acquired, "unavailable");
  EXPECT_EQ(asked, 2);
}

// The call that asks for another token is not made with the one that has ended, which a server may
// refuse.
TEST(an_etcd_with_logins, is_not_shown_an_ended_token_at_a_login) {
  std::atomic<int> logins = 0;
  const fake_server server{{.answer = [&](fake_peer& p, const fake_peer::call& c) {
    const auto token = c.headers.find("token");
    const bool has_ended = token != c.headers.end() && token->second == "one";
    const bool is_login = c.name() == "Authenticate";
    if (has_ended && (is_login || c.name() == "Txn")) {
      return p.end(c.id, 16, "etcdserver: invalid auth token");
    }
    if (!is_login) return answer_honestly(p, c);
    p.answer(c.id, ++logins == 1 ? "\x12\x03one" : "\x12\x03two");
  }}};
  const ending e = used("etcd://me:secret@127.0.0.1:" + std::to_string(server.port()), mutex());
  EXPECT_EQ(e.sentence, "");
  EXPECT_EQ(e.acquired, "done");
  EXPECT_EQ(logins, 2);
}

// A stream of the server's own that goes wrong ends the run, too.
TEST(a_lying_etcd, is_heard_in_streams) {
  const fake_server server{{.answer = [](fake_peer& p, const fake_peer::call& c) {
    if (c.name() == "LeaseGrant") {
      return p.answer(c.id, "\x10\x07\x18\x01"s);  // a lease of 1 s, soon to be kept alive
    }
    if (c.name() == "LeaseKeepAlive") return p.say(c.id, framed("\xff\xff"));
    if (c.name() != "Txn") answer_honestly(p, c);
  }}};
  EXPECT_THAT(used(server).sentence, HasSubstr("a message that has no place in its stream"));
}

// The server grants what was not asked for: the lock service with a key of its own is believed, a
// grant without a key is not.
TEST(a_lying_etcd, cannot_grant_nothing) {
  const fake_server server{{.answer = [](fake_peer& p, const fake_peer::call& c) {
    if (c.name() != "Lock") return answer_honestly(p, c);
    p.answer(c.id, "");
  }}};
  EXPECT_THAT(used(server, lock_service()).sentence,
              HasSubstr("answered Lock with what no etcd server says"));
}

}  // namespace
}  // namespace lockmark::etcd
