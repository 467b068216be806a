#include "drivers/redis/replies.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockmark::redis {
namespace {

using kind = reply::kind;

struct shape {
  std::string_view command;
  kind one;
  kind other;
  bool numbers = false;  // a list of numbers as well
};

constexpr shape shapes[] = {
    {"EVALSHA", kind::integer, kind::nil, true},  // our own scripts
    {"EVAL", kind::integer, kind::nil, true},
    {"SET", kind::status, kind::nil},
    {"GET", kind::text, kind::nil},
    {"GETSET", kind::text, kind::nil},
    {"SETNX", kind::integer, kind::integer},
    {"DEL", kind::integer, kind::integer},
    {"EXISTS", kind::integer, kind::integer},
    {"SCRIPT", kind::text, kind::text, true},  // LOAD and EXISTS
    {"DELIFEQ", kind::integer, kind::integer},
    {"DELEX", kind::integer, kind::integer},
    {"EXPIRE", kind::integer, kind::integer},
    {"PEXPIRE", kind::integer, kind::integer},
    {"WAIT", kind::integer, kind::integer},
};

}  // namespace

bool is_answer_to(std::string_view command, const reply& r) {
  const auto named = std::ranges::find(shapes, name_of_command(command), &shape::command);
  if (named == std::end(shapes) || r.is(named->one) || r.is(named->other)) return true;
  const auto is_number = [](const reply& part) { return part.is(kind::integer); };
  return named->numbers && r.is(kind::array) && std::ranges::all_of(r.parts, is_number);
}

std::string describe(const reply& r) {
  switch (r.what) {
    case kind::nil: return "nil";
    case kind::status: return fmt::format("the status '{}'", excerpt(r.text));
    case kind::error: return fmt::format("the error '{}'", excerpt(r.text));
    case kind::integer: return fmt::format("the number {}", r.number);
    case kind::text: return fmt::format("the text '{}'", excerpt(r.text));
    case kind::array: return fmt::format("a list of {}", r.parts.size());
  }
  return "something else";
}

std::string excerpt(std::string_view said) {
  constexpr std::size_t most = 200;
  std::string line{said.substr(0, most)};
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return said.size() > most ? line + "..." : line;
}

std::string answered_with_error(std::string_view server, std::string_view command, const reply& r) {
  return fmt::format("{} answered {} with an error: {}", server, command, excerpt(r.text));
}

std::string answered_wrongly(std::string_view server, std::string_view command, const reply& r) {
  return fmt::format("{} answered {} with {}, which is no answer to it", server, command,
                     describe(r));
}

std::string_view info_field(std::string_view info, std::string_view name) {
  while (!info.empty()) {
    const auto end = std::min(info.find("\r\n"), info.size());
    const std::string_view line = info.substr(0, end);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
      return line.substr(name.size() + 1);
    }
    info.remove_prefix(std::min(info.size(), end + 2));
  }
  return {};
}

bool has_waitaof(std::string_view info) {
  constexpr std::uint64_t first_major = 7, first_minor = 2;
  const std::string_view version = info_field(info, "redis_version");
  const std::uint64_t major = number_in(version);
  if (major != first_major) return major > first_major;
  const std::size_t dot = version.find('.');
  return dot != version.npos && number_in(version.substr(dot + 1)) >= first_minor;
}

bool is_pair_of_numbers(const reply& r) {
  const auto is_number = [](const reply& part) { return part.is(kind::integer); };
  return r.is(kind::array) && r.parts.size() == 2 && std::ranges::all_of(r.parts, is_number);
}

product product_in(std::string_view info) {
  const std::string_view name = info_field(info, "server_name");
  if (name.empty()) return {"Redis", info_field(info, "redis_version")};
  const std::string_view version = info_field(info, std::string{name} + "_version");
  const std::string_view known = name == "valkey" ? "Valkey" : name == "redis" ? "Redis" : name;
  return {known, version.empty() ? info_field(info, "redis_version") : version};
}

std::string_view mode_in(std::string_view info) {
  const std::string_view mode = info_field(info, "redis_mode");
  return mode.empty() ? info_field(info, "server_mode") : mode;
}

std::string_view setting_in(const reply& said) {
  const bool known = said.is(kind::array) && said.parts.size() == 2;
  return known ? std::string_view{said.parts[1].text} : std::string_view{};
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

std::optional<config::host_port> parse_master_address(const reply& r) {
  if (r.parts.size() != 2 || r.parts[0].text.empty()) return std::nullopt;
  const auto port = whole_number<std::uint16_t>(r.parts[1].text);
  if (!port || *port == 0) return std::nullopt;
  return config::host_port{r.parts[0].text, *port};
}

bool is_master(const reply& role) {
  return !role.parts.empty() && role.parts[0].text == "master";
}

std::optional<push> parse_push(const reply& r, bool sharded) {
  if (r.parts.size() != 3 || !r.parts[0].is(kind::text) || !r.parts[1].is(kind::text)) {
    return std::nullopt;
  }
  std::string_view what = r.parts[0].text;
  if (sharded) {
    if (!what.starts_with('s')) return std::nullopt;
    what.remove_prefix(1);
  }
  push p{.channel = r.parts[1].text, .text = {}};
  const reply& last = r.parts[2];
  if (what == "message" && last.is(kind::text)) {
    p.text = last.text;
    return p;
  }
  p.what = what == "subscribe" ? push::kind::subscribed : push::kind::unsubscribed;
  const bool is_known = what == "subscribe" || what == "unsubscribe";
  if (!is_known || !last.is(kind::integer)) return std::nullopt;
  return p;
}

}  // namespace lockmark::redis
