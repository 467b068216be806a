// The client's side of gRPC over HTTP/2 against a server in memory, honest or not.
#include "drivers/etcd/grpc_session.hpp"

#include <gmock/gmock.h>

#include "drivers/etcd/fake_peer.hpp"
#include "drivers/etcd/grpc_frames.hpp"

namespace lockmark::etcd {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using more = grpc_session::more;
using how = call_end::how;

// What was heard, and a line to a server.
struct heard final : grpc_session::listener {
  explicit heard(fake_peer::behaviour b) : peer(std::move(b)), client("h:2379", false, *this) {}

  void on_message(std::int32_t, std::string_view message) override {
    messages.emplace_back(message);
  }
  void on_end(std::int32_t, call_end end) override { ends.push_back(std::move(end)); }

  std::int32_t ask(std::string_view message, more may_follow = more::none) {
    return client.start("/s/Call", message, may_follow, "");
  }

  // Until neither side has anything to say. Pieces of 0: all at once.
  bool exchange(std::size_t piece = 0) {
    bool sound = true;
    std::string to_server;
    for (int round = 0; round < 10 && sound; ++round) {
      to_server.clear();
      client.take_output(to_server);
      EXPECT_TRUE(peer.receive(to_server));
      sound = hear(peer.output(), piece);
    }
    return sound;
  }
  bool hear(const std::string& bytes, std::size_t piece = 0) {
    const std::size_t step = piece == 0 ? bytes.size() + 1 : piece;
    bool sound = true;
    for (std::size_t at = 0; at < bytes.size() && sound; at += step) {
      sound = client.receive(std::string_view{bytes}.substr(at, step));
    }
    return sound;
  }

  std::vector<std::string> messages;
  std::vector<call_end> ends;
  fake_peer peer;
  grpc_session client;
};

void nothing(fake_peer&, const fake_peer::call&) {}

// The request arrives whole, with the headers that gRPC asks for; so does the reply.
TEST(grpc_session, asks_and_is_answered) {
  for (const std::size_t piece : {0U, 1U, 5U}) {
    heard h([](fake_peer& p, const fake_peer::call& c) { p.answer(c.id, "re:" + c.message); });
    EXPECT_FALSE(h.client.ready());
    h.client.start("/etcdserverpb.KV/Txn", "hello", more::none, "secret.1");
    EXPECT_TRUE(h.exchange(piece));
    EXPECT_TRUE(h.client.ready());
    const auto& headers = h.peer.calls().begin()->second.headers;
    EXPECT_EQ(headers.at(":path"), "/etcdserverpb.KV/Txn");
    EXPECT_EQ(headers.at(":authority"), "h:2379");
    EXPECT_EQ(headers.at("content-type"), "application/grpc");
    EXPECT_EQ(headers.at("te"), "trailers");
    EXPECT_EQ(headers.at("hasleader"), "true");
    EXPECT_EQ(headers.at("token"), "secret.1");
    EXPECT_THAT(h.messages, ElementsAre("re:hello"));
    ASSERT_EQ(h.ends.size(), 1U);
    EXPECT_EQ(h.ends[0].ended, how::answered);
    EXPECT_EQ(h.ends[0].code, 0);
  }
}

// Many calls at a time, each with its own answer.
TEST(grpc_session, calls_do_not_wait_for_each_other) {
  heard h([](fake_peer& p, const fake_peer::call& c) {
    if (c.message != "silent") p.answer(c.id, c.message);
  });
  h.ask("silent");
  for (int n = 0; n < 50; ++n) h.ask(std::to_string(n));
  EXPECT_TRUE(h.exchange());
  EXPECT_EQ(h.ends.size(), 50U);
  EXPECT_EQ(h.peer.calls().begin()->second.headers.contains("token"), false);
}

// More than a window of flow control holds, one after the other.
TEST(grpc_session, is_not_stalled_by_flow_control) {
  heard h([](fake_peer& p, const fake_peer::call& c) {
    p.answer(c.id, std::string(largest_message, 'x'));
  });
  for (int n = 0; n < 200; ++n) {
    h.ask("");
    EXPECT_TRUE(h.exchange());
  }
  EXPECT_EQ(h.ends.size(), 200U);
}

TEST(grpc_session, tells_the_servers_words) {
  heard h([](fake_peer& p, const fake_peer::call& c) { p.end(c.id, 14, "no%20leader"); });
  h.ask("");
  EXPECT_TRUE(h.exchange());
  ASSERT_EQ(h.ends.size(), 1U);
  EXPECT_EQ(h.ends[0].ended, how::answered);
  EXPECT_EQ(h.ends[0].code, 14);
  EXPECT_EQ(h.ends[0].message, "no leader");
  EXPECT_THAT(h.messages, IsEmpty());
}

// Messages both ways; then the server ends it, though the client had more to say.
TEST(grpc_session, talks) {
  heard h([](fake_peer& p, const fake_peer::call& c) {
    if (c.message == "enough") return p.end(c.id, 0);
    p.say(c.id, framed("re:" + c.message));
  });
  const auto talk = h.ask("one", more::may_follow);
  EXPECT_TRUE(h.exchange());
  h.client.send(talk, "two");
  h.client.send(talk, "three");
  EXPECT_TRUE(h.exchange());
  EXPECT_THAT(h.messages, ElementsAre("re:one", "re:two", "re:three"));
  EXPECT_THAT(h.ends, IsEmpty());
  h.client.send(talk, "enough");
  EXPECT_TRUE(h.exchange());
  EXPECT_EQ(h.ends.size(), 1U);
  h.client.send(talk, "too late");
  EXPECT_TRUE(h.exchange());
}

// The server is told, and nothing more is heard of the call.
TEST(grpc_session, cancels) {
  heard h(nothing);
  const auto call = h.ask("");
  EXPECT_TRUE(h.exchange());
  h.client.cancel(call);
  EXPECT_TRUE(h.exchange());
  EXPECT_TRUE(h.peer.calls().at(call).cancelled);
  h.client.cancel(h.ask("unsent"));
  EXPECT_TRUE(h.exchange());
  EXPECT_THAT(h.ends, IsEmpty());
}

// What the server has not looked at is told apart from what it dropped.
TEST(grpc_session, knows_what_was_refused) {
  heard h(nothing);
  const auto first = h.ask("");
  h.ask("");
  EXPECT_TRUE(h.exchange());
  h.peer.go_away(first);
  EXPECT_TRUE(h.exchange());
  EXPECT_FALSE(h.client.may_start());
  EXPECT_EQ(h.ask(""), 0);
  ASSERT_EQ(h.ends.size(), 1U);
  EXPECT_EQ(h.ends[0].ended, how::refused);
  constexpr std::uint32_t internal_error = 2;
  h.peer.reset(first, internal_error);
  EXPECT_TRUE(h.exchange());
  ASSERT_EQ(h.ends.size(), 2U);
  EXPECT_EQ(h.ends[1].ended, how::broken);
}

// A proxy between that finds no server.
TEST(grpc_session, takes_http_for_what_it_is) {
  heard h([](fake_peer& p, const fake_peer::call& c) {
    p.http(c.id, c.message == "busy" ? 503 : 404, "<html>");
  });
  h.ask("busy");
  h.ask("");
  EXPECT_TRUE(h.exchange());
  ASSERT_EQ(h.ends.size(), 2U);
  EXPECT_EQ(h.ends[0].code, 14);
  EXPECT_EQ(h.ends[1].code, 2);
  EXPECT_EQ(h.ends[1].message, "HTTP status 404");
}

struct lie {
  const char* name;
  fake_peer::behaviour tell;
  const char* complaint;
};

TEST(grpc_session, believes_no_lies) {
  const lie lies[] = {
      {"compressed",
       [](fake_peer& p, const fake_peer::call& c) { p.say(c.id, std::string("\1\0\0\0\1x", 6)); },
       "a compressed message"},
      {"much announced",
       [](fake_peer& p, const fake_peer::call& c) { p.say(c.id, "\0\x7f\xff\xff\xff"s); },
       "a message of 2147483647 bytes"},
      {"a page", [](fake_peer& p, const fake_peer::call& c) { p.http(c.id, 200, "<html>"); },
       "an answer that is no gRPC"},
  };
  for (const lie& l : lies) {
    heard h(l.tell);
    h.ask("");
    EXPECT_FALSE(h.exchange()) << l.name;
    EXPECT_THAT(h.client.wrong(), HasSubstr(l.complaint)) << l.name;
    EXPECT_FALSE(h.client.receive("")) << l.name;
  }
}

// Half a message before the end is no message.
TEST(grpc_session, half_a_message_is_none) {
  heard h([](fake_peer& p, const fake_peer::call& c) {
    p.say(c.id, framed("message").substr(0, 8));
    p.end(c.id, 0);
  });
  h.ask("");
  EXPECT_TRUE(h.exchange());
  ASSERT_EQ(h.ends.size(), 1U);
  EXPECT_EQ(h.ends[0].ended, how::broken);
  EXPECT_THAT(h.messages, IsEmpty());
}

// Servers of other protocols.
TEST(grpc_session, hears_that_it_is_no_http2) {
  for (const std::string& said : {"HTTP/1.1 400 Bad Request\r\n\r\n"s, "+OK\r\n+OK\r\n+OK\r\n"s,
                                  "\x15\3\1\0\2\2\x46"s + "xxxxx", std::string(100, '\0')}) {
    heard h(nothing);
    EXPECT_FALSE(h.hear(said) && h.hear(std::string(20'000, '\0'))) << said;
    EXPECT_NE(h.client.wrong(), "");
  }
}

// Acknowledgements that nobody takes are not kept without end.
TEST(grpc_session, is_not_flooded) {
  heard h(nothing);
  std::string start;
  h.client.take_output(start);
  EXPECT_TRUE(h.hear(h.peer.output()));
  const std::string ping = "\0\0\x08\x06\0\0\0\0\0"s + std::string(8, 'p');
  std::string many;
  for (int n = 0; n < 5'000; ++n) many += ping;
  EXPECT_FALSE(h.hear(many));
}

// Nor if they come one by one, and nothing can be sent meanwhile.
TEST(grpc_session, is_not_flooded_little_by_little) {
  heard h(nothing);
  EXPECT_TRUE(h.hear(h.peer.output()));
  const std::string ping = "\0\0\x08\x06\0\0\0\0\0"s + std::string(8, 'p');
  int heard_of = 0;
  while (heard_of < 100'000 && h.hear(ping)) ++heard_of;
  EXPECT_LT(heard_of, 100'000);
  std::string unsent;
  h.client.take_output(unsent);
  EXPECT_LT(unsent.size(), std::size_t{1} << 20);
}

// A name and a value of HPACK that is repeated: few bytes on the wire, many in memory.
TEST(grpc_session, bounds_the_headers_of_a_call) {
  heard h(nothing);
  const auto call = h.ask("");
  EXPECT_TRUE(h.exchange());
  // Literal with indexing: a name of 1 byte and a value of 1000; then 62 (the first dynamic entry)
  // again and again.
  std::string block = "\x88"s + "\x40\x01x"s + "\x7f\xe9\x06" + std::string(1000, 'v');
  block += std::string(60, '\xbe');
  std::string frame = "\0"s + static_cast<char>(block.size() >> 8) +
                      static_cast<char>(block.size() & 0xff) + "\x01\x04\0\0\0"s +
                      static_cast<char>(call) + block;
  EXPECT_FALSE(h.hear(frame));
  EXPECT_THAT(h.client.wrong(), HasSubstr("bytes of headers"));
}

}  // namespace
}  // namespace lockmark::etcd
