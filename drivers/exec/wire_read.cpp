// Parses a lock client's lines. Anything in a line may be wrong, and is reported.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "drivers/exec/wire.hpp"

namespace lockmark::exec {
namespace {

using json = nlohmann::json;

// The protocol nests no deeper; without a limit a short line could be a large value.
constexpr int deepest_value = 3;
constexpr std::size_t line_shown = 200;
constexpr std::size_t value_shown = 60;
constexpr std::int64_t longest_valid_ms = 100LL * 365 * 24 * 3600 * 1000;  // a hundred years
// Stamps pass through languages whose numbers are doubles.
constexpr duration stamp_error = std::chrono::microseconds{1};

struct wrong_line {
  std::string why;
};

// Lists and objects only by their kind: dumping a value recurses as deep as the value.
std::string shown(const json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > value_shown) text = text.substr(0, value_shown) + "...";
  return text;
}

[[noreturn]] void refuse(const char* name, const json& value, std::string_view expected) {
  throw wrong_line{fmt::format("its \"{}\" is {}; expected {}", name, shown(value), expected)};
}

const json& member(const json& j, const char* name, std::string_view expected) {
  const auto found = j.find(name);
  if (found != j.end()) return *found;
  throw wrong_line{fmt::format("it has no \"{}\"; expected {}", name, expected)};
}

std::uint64_t count_of(const json& j, const char* name) {
  constexpr std::string_view expected = "a whole number from 0";
  const json& value = member(j, name, expected);
  if (!value.is_number_unsigned()) refuse(name, value, expected);
  return value.get<std::uint64_t>();
}

std::string text_of(const json& j, const char* name, std::string_view expected) {
  const json& value = member(j, name, expected);
  if (!value.is_string()) refuse(name, value, expected);
  return value.get<std::string>();
}

bool flag_of(const json& j, const char* name) {
  const json& value = j.at(name);
  if (!value.is_boolean()) refuse(name, value, "true or false");
  return value.get<bool>();
}

// A refusal is a promise: an unknown one is not accepted as such.
outcome<grant> refusal_of(const json& j) {
  constexpr std::string_view expected = "busy, deadline, not_owner or unavailable";
  const std::string why = text_of(j, "why", expected);
  if (why == "busy") return refusal::busy;
  if (why == "deadline") return refusal::deadline;
  if (why == "not_owner") return refusal::not_owner;
  if (why == "unavailable") return refusal::unavailable;
  refuse("why", j.at("why"), expected);
}

outcome<grant> ending_of(const json& j) {
  constexpr std::string_view expected = "granted, refused or doubt";
  const std::string how = text_of(j, "outcome", expected);
  if (how == "granted") return grant{.token = j.contains("token") ? count_of(j, "token") : 0};
  if (how == "refused") return refusal_of(j);
  if (how != "doubt") refuse("outcome", j.at("outcome"), expected);
  const std::string why = text_of(j, "why", "lost or deadline");
  if (why != "lost" && why != "deadline") refuse("why", j.at("why"), "lost or deadline");
  return why == "lost" ? doubt::connection_lost : doubt::deadline;
}

std::optional<std::chrono::milliseconds> valid_of(const json& j) {
  const auto found = j.find("valid_ms");
  if (found == j.end()) return std::nullopt;
  // An unsigned value that does not fit becomes negative, and so is too small.
  const auto ms = found->is_number_integer() ? found->get<std::int64_t>() : longest_valid_ms + 1;
  const bool too_large = found->is_number_unsigned() && ms < 0;
  if (too_large || ms > longest_valid_ms || ms < -longest_valid_ms) {
    refuse("valid_ms", *found, "whole milliseconds, at most a hundred years");
  }
  return std::chrono::milliseconds{ms};
}

time_point stamp_of(const json& j, const char* name) {
  constexpr std::string_view expected =
      "nanoseconds of this host's CLOCK_MONOTONIC; an answer has all of received, began, ended and "
      "sent, or none of them";
  const json& value = member(j, name, expected);
  const auto ns = value.is_number_integer() ? value.get<std::int64_t>() : -1;
  if (ns < 0) refuse(name, value, expected);
  return from_ns(ns);
}

std::optional<call_stamps> stamps_of(const json& j) {
  const auto has = [&](const char* name) { return j.contains(name); };
  if (!has("received") && !has("began") && !has("ended") && !has("sent")) return std::nullopt;
  return call_stamps{stamp_of(j, "received"), stamp_of(j, "began"), stamp_of(j, "ended"),
                     stamp_of(j, "sent")};
}

answer read_outcome(const json& j) {
  answer a{.what = answer::kind::outcome, .id = count_of(j, "id")};
  a.ending = ending_of(j);
  a.valid = valid_of(j);
  a.at = stamps_of(j);
  if (j.contains("reconnects")) a.reconnects = count_of(j, "reconnects");
  return a;
}

answer read_ready(const json& j) {
  answer a{.what = answer::kind::ready, .text = "unknown", .is_ready = flag_of(j, "ready")};
  if (j.contains("protocol") && count_of(j, "protocol") != protocol_version) {
    refuse("protocol", j.at("protocol"), std::to_string(protocol_version));
  }
  if (j.contains("version")) a.text = text_of(j, "version", "a text");
  if (j.contains("features")) {
    for (const json& name : j.at("features")) {
      if (!name.is_string()) refuse("features", name, "texts");
      a.features.push_back(name.get<std::string>());
    }
  }
  if (j.contains("about")) {
    if (!j.at("about").is_object()) refuse("about", j.at("about"), "texts by their names");
    for (const auto& [name, value] : j.at("about").items()) {
      if (!value.is_string()) refuse("about", value, "texts by their names");
      a.about.emplace_back(name, value.get<std::string>());
    }
  }
  return a;
}

answer read_message(const json& j) {
  if (!j.is_object()) throw wrong_line{fmt::format("it is {}, not an object", shown(j))};
  if (j.contains("id")) return read_outcome(j);
  if (j.contains("ready")) return read_ready(j);
  if (j.contains("failed")) {
    return {.what = answer::kind::failed, .text = text_of(j, "failed", "a text that says why")};
  }
  if (j.contains("alive")) return {.what = answer::kind::alive, .alive = flag_of(j, "alive")};
  throw wrong_line{"it has none of \"id\", \"ready\", \"failed\" and \"alive\""};
}

json parse_shallow(std::string_view line) {
  bool too_deep = false;
  const auto limit = [&too_deep](int depth, json::parse_event_t event, const json&) {
    const bool opens =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= deepest_value) too_deep = true;
    return !too_deep;
  };
  json j = json::parse(line, limit, false);
  if (too_deep) throw wrong_line{"its values are too deep in one another"};
  if (j.is_discarded()) throw wrong_line{"it is not JSON"};
  return j;
}

// The likely meaning of a wrong number; empty if there is no guess.
std::string guess_at(time_point stamp, time_point asked, time_point read) {
  constexpr std::int64_t any_wall_clock = 1'000'000'000'000'000'000;  // the year 2001
  if (to_ns(stamp) > any_wall_clock) return ", which looks like a wall clock";
  constexpr std::array<std::pair<std::int64_t, const char*>, 3> units{
      {{1'000, "microseconds"}, {1'000'000, "milliseconds"}, {1'000'000'000, "seconds"}}};
  for (const auto& [ns, name] : units) {
    const std::int64_t count = to_ns(stamp);
    if (count >= to_ns(asked) / ns && count <= to_ns(read) / ns + 1) {
      return fmt::format(", which looks like {}", name);
    }
  }
  return {};
}

}  // namespace

config::parsed<answer> read_line(std::string_view line) {
  try {
    return read_message(parse_shallow(line));
  } catch (const wrong_line& wrong) {
    return config::problem{wrong.why};
  } catch (const json::exception&) {
    return config::problem{"it cannot be read"};
  }
}

std::string wrong_with(const call_stamps& at, time_point asked, time_point read) {
  const std::array<std::pair<const char*, time_point>, 6> order{{{"the request was written", asked},
                                                                 {"received", at.received},
                                                                 {"began", at.began},
                                                                 {"ended", at.ended},
                                                                 {"sent", at.sent},
                                                                 {"the answer was read", read}}};
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto& [before, early] = order[i - 1];
    const auto& [after, late] = order[i];
    if (early - late <= stamp_error) continue;
    const std::size_t stamp = i + 1 == order.size() ? i - 1 : i;
    return fmt::format(
        "its stamp \"{}\" is {}{}; expected nanoseconds of this host's CLOCK_MONOTONIC, and {} (at "
        "{}) not before {} (at {})",
        order[stamp].first, to_ns(order[stamp].second), guess_at(order[stamp].second, asked, read),
        after, to_ns(late), before, to_ns(early));
  }
  return {};
}

std::string quoted_line(std::string_view line) {
  std::string text;
  for (const char c : line.substr(0, line_shown)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= ' ' && byte < 0x7f;
    text += plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  if (line.size() > line_shown) text += fmt::format("... ({} bytes)", line.size());
  return text;
}

}  // namespace lockmark::exec
