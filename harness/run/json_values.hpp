// Values of run.json: what is unknown, empty or not finite is null.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/run/result.hpp"

namespace lockmark::run {

using json = nlohmann::ordered_json;

inline json number(double value) {
  return std::isfinite(value) ? json(value) : json();
}
inline json ratio(double part, double whole) {
  return whole > 0 ? number(part / whole) : json();
}
inline json text(const std::string& value) {
  return value.empty() ? json() : json(value);
}
inline json time_ns(std::int64_t ns, bool censored) {
  return censored ? json(fmt::format("> {}", ns)) : json(ns);
}
inline json time_ns(const stats::quantile_ns& t) {
  return time_ns(t.value_ns, t.censored);
}

inline json message_json(const message& m) {
  return {{"id", text(m.id)}, {"values", m.values}};
}
inline json messages_json(const std::vector<message>& all) {
  json list = json::array();
  for (const message& m : all) list.push_back(message_json(m));
  return list;
}

// Defined in result_sections.cpp: who was granted the lock; the machines that the load came from;
// the build, the host, the server and the whole job.
json fairness_section(const result& r);
json hosts_section(const result& r);
json provenance_section(const result& r);

}  // namespace lockmark::run
