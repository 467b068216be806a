// What a member tells about itself on its page /metrics: over HTTP/1 and by the text format of
// Prometheus. There is no other way to its counters and its quota.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drivers/etcd/servers.hpp"
#include "harness/driver.hpp"

namespace lockmark::etcd {

// The largest page that is read; etcd's has some 150 kB.
inline constexpr std::size_t largest_page = 4 << 20;

struct metrics_page {
  std::string failure;  // why there is none, in words; empty: there is one
  std::string text;
  std::string date;  // by the member's clock: "Wed, 25 Nov 2026 02:25:01 GMT"; empty: unknown
};

// Of an answer as it was received, until the server hung up.
metrics_page read_page(std::string_view answer);

task<metrics_page> fetch_metrics(loop& l, const servers& where, config::host_port member,
                                 time_point deadline);

// Messages that the member has received in calls: "commands" for all together, "cmd.Txn" for each
// kind.
server_counters counters_in(std::string_view page);

// The value of a metric without labels.
std::optional<double> gauge_in(std::string_view page, std::string_view name);

// Of the first metric of that name, the value of a label; empty: there is none.
std::string_view labelled_in(std::string_view page, std::string_view name, std::string_view label);

// A date as above, in seconds since 1970.
std::optional<std::int64_t> seconds_in(std::string_view date);

}  // namespace lockmark::etcd
