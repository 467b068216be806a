#include "drivers/exec/wire.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace lockmark::exec {
namespace {

using json = nlohmann::json;

std::int64_t whole_ms(duration d) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::max(d, duration{})).count();
}

std::string address_of(const config::host_port& h) {
  const bool bracketed = h.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", bracketed ? "[" : "", h.host, bracketed ? "]" : "", h.port);
}

json server_of(const config::target& t) {
  json addresses = json::array();
  for (const auto& h : t.hosts) addresses.push_back(address_of(h));
  json nat = json::object();
  for (const auto& [from, to] : t.nat) nat[address_of(from)] = address_of(to);
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

std::string_view name_of(operation op) {
  switch (op) {
    case operation::acquire: return "acquire";
    case operation::renew: return "renew";
    case operation::release: return "release";
    case operation::wipe: return "wipe";
  }
  return "?";
}

// A refusal is a promise: what is not known is not taken for one.
outcome<grant> refusal_named(const std::string& why) {
  if (why == "busy") return refusal::busy;
  if (why == "deadline") return refusal::deadline;
  if (why == "not_owner") return refusal::not_owner;
  if (why == "unavailable") return refusal::unavailable;
  throw json::other_error::create(501, "no such refusal", nullptr);
}

std::int64_t stamp(const json& j, const char* name) {
  const auto found = j.find(name);
  return found == j.end() ? 0 : found->get<std::int64_t>();
}

// The child's clock is this host's CLOCK_MONOTONIC, and therefore ours.
time_point end_of(const json& j) {
  const auto valid_ms = j.find("valid_ms");
  if (valid_ms == j.end()) return time_point::max();
  return from_ns(stamp(j, "ended")) + std::chrono::milliseconds{valid_ms->get<std::int64_t>()};
}

outcome<grant> ending_of(const json& j) {
  const auto how = j.at("outcome").get<std::string>();
  const auto why = j.value("why", "");
  if (how == "granted") {
    return grant{.token = j.value("token", std::uint64_t{0}), .valid_until = end_of(j)};
  }
  if (how == "refused") return refusal_named(why);
  if (how != "doubt") throw json::other_error::create(501, "no such ending", nullptr);
  return why == "lost" ? doubt::connection_lost : doubt::deadline;
}

answer read_ready(const json& j) {
  answer a{.what = answer::kind::ready, .text = j.value("version", "unknown")};
  if (j.contains("features")) a.features = j.at("features").get<std::vector<std::string>>();
  if (j.contains("about")) {
    for (const auto& [name, value] : j.at("about").items()) {
      a.about.emplace_back(name, value.get<std::string>());
    }
  }
  return a;
}

answer read_outcome(const json& j) {
  answer a{.what = answer::kind::outcome, .id = j.at("id").get<std::uint64_t>()};
  a.ending = ending_of(j);
  if (j.contains("reconnects")) a.reconnects = j.at("reconnects").get<std::uint64_t>();
  const std::int64_t began = stamp(j, "began");
  const std::int64_t ended = stamp(j, "ended");
  if (began > 0 && ended >= began) a.at_work = duration{ended - began};
  return a;
}

answer read_message(const json& j) {
  if (j.contains("id")) return read_outcome(j);
  if (j.contains("ready")) return read_ready(j);
  if (j.contains("failed")) {
    return {.what = answer::kind::failed, .text = j.at("failed").get<std::string>()};
  }
  return {.what = answer::kind::alive, .alive = j.at("alive").get<bool>()};
}

}  // namespace

std::string hello_line(const greeting& g) {
  json options = json::object();
  for (const auto& [name, value] : g.options) options[name] = value;
  const json hello{{"op", "hello"},
                   {"protocol", protocol_version},
                   {"target", g.url},
                   {"server", server_of(g.server)},
                   {"lock", g.lock},
                   {"run", g.run},
                   {"keys", g.keys},
                   {"prefix", g.prefix},
                   {"options", options},
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
      name_of(op), id, r.key, r.client, whole_ms(r.lease), whole_ms(left), whole_ms(more));
}

std::string close_line() {
  return "{\"op\":\"close\"}\n";
}

std::string key_prefix(std::string_view scheme, std::string_view run) {
  if (scheme.starts_with("zookeeper")) return fmt::format("/lockmark/{}/", run);
  if (scheme.starts_with("redis")) return fmt::format("lockmark:{}:", run);
  return {};
}

std::optional<answer> read_line(std::string_view line) {
  try {
    return read_message(json::parse(line));
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

features feature_named(std::string_view name) {
  for (const auto& [bit, known] : feature_names) {
    if (known == name) return bit;
  }
  return {};
}

}  // namespace lockmark::exec
