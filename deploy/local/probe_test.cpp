#include "deploy/local/probe.hpp"

#include <gtest/gtest.h>

#include <string>

#include "deploy/local/ports.hpp"

namespace lockmark::local {
namespace {

// PONG, in any number of pieces; a server that loads its data answers with an error.
TEST(redis_probe, waits_for_pong) {
  const auto judge = redis_probe().judge;
  EXPECT_EQ(judge(""), verdict::more);
  EXPECT_EQ(judge("+PO"), verdict::more);
  EXPECT_EQ(judge("+PONG\r\n"), verdict::ready);
  EXPECT_EQ(judge("-LOADING Redis is loading the dataset in memory\r\n"), verdict::not_yet);
}

// The mode appears only once the server is ready; before, the answer ends without one.
TEST(zookeeper_probe, waits_for_the_mode) {
  const auto judge = zookeeper_probe().judge;
  EXPECT_EQ(judge("This ZooKeeper instance is not currently serving requests\n"), verdict::more);
  EXPECT_EQ(judge("Zookeeper version: 3.8.0\nMode: stand"), verdict::more);
  EXPECT_EQ(judge("Zookeeper version: 3.8.0\nMode: standalone\n"), verdict::ready);
}

// A whole answer, which says that there is a leader; a member without one answers 503.
TEST(etcd_probe, waits_for_health) {
  const auto judge = etcd_probe().judge;
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 17\r\nContent-Type: text/plain";
  EXPECT_EQ(judge(head), verdict::more);
  EXPECT_EQ(judge(head + "\r\n\r\n{\"health\":"), verdict::more);
  EXPECT_EQ(judge(head + "\r\n\r\n{\"health\":\"true\"}"), verdict::ready);
  EXPECT_EQ(judge("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"),
            verdict::not_yet);
  EXPECT_EQ(judge("SSH-2.0\r\n\r\n"), verdict::not_yet);
}

// A handshake of protocol 10; an error packet, as for too many connections, is not ready.
TEST(mariadb_probe, waits_for_the_handshake) {
  const auto judge = mariadb_probe().judge;
  EXPECT_EQ(judge(std::string("\x4a\0\0\0", 4)), verdict::more);
  EXPECT_EQ(judge(std::string("\x4a\0\0\0\x0a"
                              "5.5.5",
                              10)),
            verdict::ready);
  EXPECT_EQ(judge(std::string("\x17\0\0\0\xff\x10\x04", 7)), verdict::not_yet);
}

// A node reports that it is ready; before the cluster has accepted it, that it is not.
TEST(galera_probe, waits_for_the_nodes_word) {
  const auto judge = galera_probe().judge;
  const std::string greeting(
      "\x4a\0\0\0\x0a"
      "5.5.5",
      10);
  EXPECT_EQ(judge(greeting), verdict::more);
  EXPECT_EQ(judge(greeting + "\x0bwsrep_ready\x02ON"), verdict::ready);
  EXPECT_EQ(judge(greeting + "\x0bwsrep_ready\x03OFF"), verdict::not_yet);
  EXPECT_EQ(judge(std::string("\x17\0\0\0\xff\x10\x04", 7)), verdict::not_yet);
}

// A demand for a password, even for that of nobody; an error tells of a start, or of a pooler's.
TEST(postgres_probe, waits_for_the_demand_of_a_password) {
  const auto judge = postgres_probe().judge;
  EXPECT_EQ(postgres_probe().question.size(),
            static_cast<std::size_t>(postgres_probe().question[3]));
  EXPECT_EQ(judge(""), verdict::more);
  EXPECT_EQ(judge("R"), verdict::ready);
  EXPECT_EQ(judge("E"), verdict::not_yet);
}

// Without a listener there is no answer, and that is known at once.
TEST(answers, is_false_where_nothing_listens) {
  const int port = port_source{std::nullopt}.take("nobody");
  EXPECT_FALSE(answers(redis_probe(), port, std::chrono::seconds{5}));
}

}  // namespace
}  // namespace lockmark::local
