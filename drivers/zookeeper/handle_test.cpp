// A session on a real server whose connection breaks.
#include <gtest/gtest.h>

#include "drivers/conformance/proxy.hpp"
#include "drivers/zookeeper/test_world.hpp"

namespace lockmark::zookeeper {
namespace {

using conformance::proxy;
using conformance::proxy_mode;

task<void> create_into(handle& zk, std::string path, time_point deadline, reply& result) {
  result = co_await zk.create(path, "", node_kind::ephemeral, deadline);
}

// Breaks the connection while a request waits for its reply, and sends on before that is read: the
// first send is answered with a reset, and the second one fails.
task<void> fail_to_send(world& w, handle& zk, proxy& between) {
  const auto watch = std::make_shared<node_watch>(w.here);
  co_await zk.children(w.key_path(), watch, w.in(seconds(20)));
  reply lost{};
  scope tasks{w.here};
  between.set(proxy_mode::hold);
  const std::uint64_t before = zk.sent().round_trips;
  tasks.spawn(create_into(zk, w.key_path() + "/lost", w.in(seconds(20)), lost));
  while (zk.sent().round_trips == before) co_await w.here.sleep_for(milliseconds(1));
  between.set(proxy_mode::cut);
  for (int i = 0; i < 2; ++i) zk.forget(w.key_path(), watch);
  EXPECT_FALSE(zk.connected());
  between.set(proxy_mode::pass);
  co_await tasks.join();
  EXPECT_EQ(lost.ended, status::connection_lost) << lost.code;
  EXPECT_TRUE(co_await zk.connected_by(w.in(seconds(10))));
  const reply works = co_await zk.exists(w.key_path(), nullptr, w.in(seconds(20)));
  EXPECT_TRUE(works.ok()) << works.code;
}

// The library, left alone, would take the first reply on its next connection for one to the request
// that was lost, and end the connection.
TEST(handle, requests_end_with_their_connection) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    scope tasks{w.here};
    const auto zk = handle::open(w.here, tasks, {between.address(), seconds(10), "", ""});
    EXPECT_TRUE(co_await zk->connected_by(w.in(seconds(10))));
    try {
      for (int round = 0; round < 3; ++round) co_await fail_to_send(w, *zk, between);
    } catch (const no_server& e) {
      ADD_FAILURE() << e.what();
    }
    zk->close();
    co_await tasks.join();
  });
}

}  // namespace
}  // namespace lockmark::zookeeper
