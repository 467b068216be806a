#include "harness/report/cause.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

// Seconds since the measurement began.
struct stretch {
  double from_s = 0;
  double to_s = 0;
};

bool meet(const stretch& a, const stretch& b) {
  return a.from_s <= b.to_s && b.from_s <= a.to_s;
}

stretch overlap_of(const json& example) {
  const json &first = example.at("first"), &second = example.at("second");
  const auto seconds = [](const json& ns) { return ns.get<double>() / 1e9; };
  const double from_s = std::max(seconds(first.at("granted_ns")), seconds(second.at("granted_ns")));
  const double to_s =
      std::min(seconds(first.at("release_sent_ns")), seconds(second.at("release_sent_ns")));
  return {from_s, std::max(from_s, to_s)};
}

std::string named(const json& fault) {
  return fmt::format("({}): {}", fault.at("kind").get<std::string>(),
                     fault.at("text").get<std::string>());
}

std::string cause_in(const json& content) {
  const json& examples = content.at("safety").at("examples");
  if (examples.empty() || !content.contains("faults")) return "";
  const json& faults = content.at("faults");
  if (faults.empty()) return "No faults were injected";
  stretch overlap = overlap_of(examples.front());
  for (const json& example : examples) {
    const stretch other = overlap_of(example);
    if (other.from_s < overlap.from_s) overlap = other;
  }
  const json* last = nullptr;
  for (const json& fault : faults) {
    const double from_s = fault.at("at_s").get<double>();
    if (meet({from_s, from_s + fault.at("for_s").get<double>()}, overlap)) {
      return fmt::format("The first one, at {:.2f} s, came while a fault was on {}", overlap.from_s,
                         named(fault));
    }
    if (from_s < overlap.from_s) last = &fault;
  }
  if (last == nullptr) return "No fault had been injected before the first one";
  return fmt::format("The last fault before the first one, {:.2f} s earlier {}",
                     overlap.from_s - last->at("at_s").get<double>(), named(*last));
}

}  // namespace

// A page shows what is left of a damaged run, and whatever else it lacks.
std::string fault_at_violation(const json& content) {
  try {
    return cause_in(content);
  } catch (const json::exception&) {
    return "";
  }
}

}  // namespace lockmark::report
