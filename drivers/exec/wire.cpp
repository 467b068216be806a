#include "drivers/exec/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace lockmark::exec {
namespace {

using json = nlohmann::json;

std::int64_t whole_ms(duration d) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::max(d, duration{})).count();
}

json server_of(const config::target& t) {
  json addresses = json::array();
  for (const auto& h : t.hosts) addresses.push_back(to_string(h));
  json nat = json::object();
  for (const auto& [from, to] : t.nat) nat[to_string(from)] = to_string(to);
  return {{"scheme", t.scheme},
          {"hosts", addresses},
          {"user", t.user},
          {"password", t.password},
          {"path", t.path},
          {"sentinel_user", t.sentinel_user},
          {"sentinel_password", t.sentinel_password},
          {"tls", t.tls.on},
          {"tls_verify", t.tls.verify},
          {"tls_ca", t.tls.ca},
          {"nat", nat}};
}

// In the order of operation.
constexpr std::array<std::string_view, 4> operation_names{"acquire", "renew", "release", "wipe"};

}  // namespace

std::string hello_line(const greeting& g) {
  const json hello{{"op", "hello"},
                   {"protocol", protocol_version},
                   {"target", g.url},
                   {"server", server_of(g.server)},
                   {"lock", g.lock},
                   {"run", g.run},
                   {"keys", g.keys},
                   {"prefix", g.prefix},
                   {"options", g.options},
                   {"instance", g.who.id},
                   {"clients", g.who.clients},
                   {"session_ms", whole_ms(g.who.session_timeout)},
                   {"within_ms", whole_ms(g.within)}};
  return hello.dump(-1, ' ', true, json::error_handler_t::replace) + '\n';
}

std::string call_line(operation op, std::uint64_t id, const request& r, duration left,
                      duration more) {
  return fmt::format(
      R"({{"op":"{}","id":{},"key":{},"client":{},"lease_ms":{},"wait_ms":{},"grace_ms":{}}})"
      "\n",
      operation_names[static_cast<std::size_t>(op)], id, r.key, r.client, whole_ms(r.lease),
      whole_ms(left), whole_ms(more));
}

std::string close_line() {
  return "{\"op\":\"close\"}\n";
}

std::string key_prefix(std::string_view scheme, std::string_view run) {
  if (scheme.starts_with("zookeeper")) return fmt::format("/lockmark/{}/", run);
  if (scheme == "etcd") return fmt::format("lockmark/{}/", run);
  if (scheme.starts_with("redis")) return fmt::format("lockmark:{}:", run);
  return {};
}

std::vector<std::string> secrets_in(const std::string& url, const config::target& server) {
  std::vector<std::string> all;
  for (const std::string& plain : {server.password, server.sentinel_password}) {
    if (plain.empty()) continue;
    const std::string in_json = json(plain).dump(-1, ' ', true, json::error_handler_t::replace);
    all.push_back(in_json.substr(1, in_json.size() - 2));
    all.push_back(plain);
  }
  // As written in the URL, percent-encoded: from the login's first colon to its end.
  const auto login = url.find("://");
  if (server.password.empty() || login == url.npos) return all;
  const auto rest = std::string_view{url}.substr(login + 3);
  const auto at = rest.substr(0, rest.find_first_of("/?")).rfind('@');
  const auto colon = rest.find(':');
  if (at != rest.npos && colon < at) all.emplace_back(rest.substr(colon + 1, at - colon - 1));
  return all;
}

duration pipe_of(duration whole, const std::optional<call_stamps>& at) {
  return at ? std::max(whole - at->inside(), duration{}) : duration{};
}

features feature_named(std::string_view name) {
  for (const auto& [bit, known] : feature_names) {
    if (known == name) return bit;
  }
  return {};
}

}  // namespace lockmark::exec
