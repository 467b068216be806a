#include "drivers/etcd/metrics_page.hpp"

#include <gtest/gtest.h>

namespace lockmark::etcd {
namespace {

constexpr std::string_view page =
    "# HELP etcd_server_quota_backend_bytes Current backend storage quota size in bytes.\n"
    "# TYPE etcd_server_quota_backend_bytes gauge\n"
    "etcd_server_quota_backend_bytes 2.147483648e+09\n"
    "etcd_server_quota_backend_bytes_more 1\n"
    "etcd_server_version{server_version=\"3.4.23\"} 1\n"
    "grpc_server_msg_received_total{grpc_method=\"Txn\",grpc_service=\"etcdserverpb.KV\","
    "grpc_type=\"unary\"} 41\n"
    "grpc_server_msg_received_total{grpc_method=\"Watch\",grpc_service=\"etcdserverpb.Watch\","
    "grpc_type=\"bidi_stream\"} 1.5e+06\n"
    "grpc_server_msg_received_total{grpc_method=\"Watch\",grpc_service=\"grpc.health.v1.Health\","
    "grpc_type=\"server_stream\"} 7\n"
    "grpc_server_msg_received_total{grpc_method=\"Lock\",grpc_service=\"v3lockpb.Lock\"} NaN\n";

// Messages of etcd's services, and of no others; large counts come with an exponent.
TEST(metrics_page, counts_messages) {
  const server_counters all = counters_in(page);
  EXPECT_EQ(all.at("cmd.Txn"), 41U);
  EXPECT_EQ(all.at("cmd.Watch"), 1'500'000U);
  EXPECT_EQ(all.at("commands"), 1'500'041U);
  EXPECT_FALSE(all.contains("cmd.Lock"));
  EXPECT_TRUE(counters_in("grpc_server_msg_received_total{grpc_method=\"").empty());
}

TEST(metrics_page, has_gauges) {
  EXPECT_EQ(gauge_in(page, "etcd_server_quota_backend_bytes"), 2147483648.0);
  EXPECT_FALSE(gauge_in(page, "etcd_server"));
  EXPECT_EQ(labelled_in(page, "etcd_server_version", "server_version"), "3.4.23");
  EXPECT_EQ(labelled_in(page, "etcd_cluster_version", "cluster_version"), "");
}

TEST(metrics_page, is_read_from_an_answer) {
  const auto told =
      read_page("HTTP/1.0 200 OK\r\nDate: Wed, 25 Nov 2026 02:25:01 GMT\r\nX: y\r\n\r\na 1\nb 2\n");
  EXPECT_EQ(told.failure, "");
  EXPECT_EQ(told.text, "a 1\nb 2\n");
  EXPECT_EQ(told.date, "Wed, 25 Nov 2026 02:25:01 GMT");
  EXPECT_NE(read_page("HTTP/1.0 404 Not Found\r\n\r\n").failure, "");
  EXPECT_NE(read_page("").failure, "");
}

TEST(metrics_page, tells_the_time) {
  EXPECT_EQ(seconds_in("Thu, 01 Jan 1970 00:00:09 GMT"), 9);
  EXPECT_EQ(seconds_in("Wed, 25 Nov 2026 02:25:01 GMT"), 1795573501);
  EXPECT_FALSE(seconds_in("Wed, 31 Feb 2026 02:25:01 GMT"));
  EXPECT_FALSE(seconds_in("Wed, 25 Nov 2026 02:25:01 GM"));
  EXPECT_FALSE(seconds_in(""));
}

}  // namespace
}  // namespace lockmark::etcd
