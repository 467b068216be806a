#include "drivers/etcd/metrics_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <asio/error.hpp>
#include <charconv>
#include <chrono>
#include <utility>

#include "drivers/etcd/transport.hpp"

namespace lockmark::etcd {
namespace {

// Takes a line off the front of `rest`, without its end.
std::string_view next_line(std::string_view& rest) {
  const auto end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), end + 1));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<double> value_in(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || !(value >= 0)) return std::nullopt;
  return value;
}

// The value of a label: of `grpc_method="Txn",...` the part between the quotes.
std::string_view label_in(std::string_view labels, std::string_view name) {
  const std::string before = fmt::format("{}=\"", name);
  const auto at = labels.find(before);
  if (at == labels.npos) return {};
  const std::string_view value = labels.substr(at + before.size());
  return value.substr(0, std::min(value.find('"'), value.size()));
}

std::optional<int> whole_in(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < 0) return std::nullopt;
  return value;
}

}  // namespace

metrics_page read_page(std::string_view answer) {
  metrics_page page;
  std::string_view rest = answer;
  const std::string_view first = next_line(rest);
  if (!first.starts_with("HTTP/1.") || first.find(" 200") == first.npos) {
    page.failure = "has no page /metrics";
    return page;
  }
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (line.empty()) break;
    constexpr std::string_view date = "Date: ";
    if (line.starts_with(date)) page.date = line.substr(date.size());
  }
  page.text = rest;
  return page;
}

task<metrics_page> fetch_metrics(loop& l, const servers& where, config::host_port member,
                                 time_point deadline) {
  metrics_page page;
  transport wire{l, where.secure_http1};
  std::error_code error = co_await wire.connect(member.host, member.port, deadline);
  // As of HTTP/1.0 the answer ends with the connection, and is in one piece.
  const std::string ask =
      fmt::format("GET /metrics HTTP/1.0\r\nHost: {}\r\n\r\n", config::to_string(member));
  if (!error) error = co_await wire.write_all(ask, deadline);
  std::string all;
  std::array<char, 16384> room{};
  while (!error && all.size() < largest_page && l.now() < deadline) {
    const received got = co_await wire.read_some(room, deadline);
    error = got.error;
    all.append(room.data(), got.bytes);
  }
  wire.close();
  if (error == asio::error::eof) co_return read_page(all);
  page.failure = error ? error.message() : "sends a page without an end";
  co_return page;
}

server_counters counters_in(std::string_view page) {
  constexpr std::string_view name = "grpc_server_msg_received_total{";
  server_counters all;
  for (std::string_view rest = page; !rest.empty();) {
    const std::string_view line = next_line(rest);
    const auto end = line.rfind("} ");
    if (!line.starts_with(name) || end == line.npos) continue;
    const std::string_view labels = line.substr(name.size(), end - name.size());
    const std::string_view service = label_in(labels, "grpc_service");
    const bool is_etcds = service.starts_with("etcdserverpb.") || service.starts_with("v3lockpb.");
    const auto value = value_in(line.substr(end + 2));
    if (!is_etcds || !value || *value > 1e18) continue;
    const auto count = static_cast<std::uint64_t>(*value);
    all["commands"] += count;
    all[fmt::format("cmd.{}", label_in(labels, "grpc_method"))] += count;
  }
  return all;
}

std::optional<double> gauge_in(std::string_view page, std::string_view name) {
  for (std::string_view rest = page; !rest.empty();) {
    const std::string_view line = next_line(rest);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(' ')) {
      return value_in(line.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

std::string_view labelled_in(std::string_view page, std::string_view name, std::string_view label) {
  for (std::string_view rest = page; !rest.empty();) {
    const std::string_view line = next_line(rest);
    if (line.starts_with(name) && line.substr(name.size()).starts_with('{')) {
      return label_in(line, label);
    }
  }
  return {};
}

std::optional<std::int64_t> seconds_in(std::string_view date) {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  // "Wed, 25 Nov 2026 02:25:01 GMT"
  if (date.size() != 29) return std::nullopt;
  const auto month = std::ranges::find(months, date.substr(8, 3));
  const auto day = whole_in(date.substr(5, 2)), year = whole_in(date.substr(12, 4));
  const auto hour = whole_in(date.substr(17, 2)), minute = whole_in(date.substr(20, 2));
  const auto second = whole_in(date.substr(23, 2));
  if (month == months.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day when{
      std::chrono::year{*year},
      std::chrono::month{static_cast<unsigned>(month - months.begin()) + 1},
      std::chrono::day{static_cast<unsigned>(*day)}};
  if (!when.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days{when}.time_since_epoch().count();
  return std::int64_t{days} * 86'400 + *hour * 3600 + *minute * 60 + *second;
}

}  // namespace lockmark::etcd
