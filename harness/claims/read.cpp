// The file of claims. It is shipped, so its words are checked, and its meaning by a test.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/claims/claim.hpp"
#include "harness/config/quantity.hpp"

namespace lockmark::claims {
namespace {

using kind = condition::kind;
using names = std::vector<std::string>;

constexpr std::array<std::pair<std::string_view, kind>, 8> kinds{
    {{"falls", kind::falls},
     {"steady", kind::steady},
     {"above", kind::above},
     {"below", kind::below},
     {"two_hold", kind::two_hold},
     {"one_holds", kind::one_holds},
     {"recovers", kind::recovers},
     {"never_recovers", kind::never_recovers}}};

class reader {
 public:
  explicit reader(std::string_view name) : name_(name) {}

  std::vector<claim> read(const YAML::Node& all) const {
    std::vector<claim> claims;
    for (const YAML::Node& node : all) claims.push_back(read_claim(node));
    return claims;
  }

  [[noreturn]] void refuse(int line, std::string_view what) const {
    throw usage_error(fmt::format("{}:{}: {}", name_, line + 1, what));
  }

 private:
  [[noreturn]] void refuse(const YAML::Node& at, std::string_view what) const {
    refuse(at.Mark().line, what);
  }

  template <class T>
  T get(const YAML::Node& of, const char* key) const {
    const YAML::Node value = of[key];
    if (!value) refuse(of, fmt::format("a claim needs {}", key));
    return value.as<T>();
  }

  claim read_claim(const YAML::Node& node) const {
    claim c{get<std::string>(node, "claim"),
            get<std::string>(node, "says"),
            get<std::string>(node, "predicts"),
            get<std::string>(node, "mind"),
            {},
            {}};
    for (const auto& run : node["runs"]) {
      c.experiments.push_back(read_run(run.first.as<std::string>(), run.second));
    }
    for (const YAML::Node& each : node["true_if"]) c.true_if.push_back(read_condition(each, c));
    if (c.true_if.empty()) refuse(node, "a claim needs runs and true_if");
    if (node["partly"]) {
      if (node["partly"].as<std::string>() != "depends") refuse(node, "partly can be: depends");
      c.partly = answer::depends;
    }
    return c;
  }

  experiment read_run(std::string label, const YAML::Node& node) const {
    return {std::move(label), get<std::string>(node, "job"), get<std::string>(node, "topology"),
            get<std::string>(node, "lock"), node["set"] ? node["set"].as<names>() : names{}};
  }

  condition read_condition(const YAML::Node& node, const claim& of) const {
    for (const auto& [name, is] : kinds) {
      const YAML::Node labels = node[std::string(name)];
      if (!labels) continue;
      condition c{is, labels.as<names>()};
      for (const std::string& label : c.labels) {
        if (std::ranges::find(of.experiments, label, &experiment::label) == of.experiments.end()) {
          refuse(labels, fmt::format("no run is called \"{}\"", label));
        }
      }
      if (is == kind::steady && c.labels.size() != 2) refuse(labels, "steady compares two runs");
      if (is <= kind::below) c.figure = get<std::string>(node, "figure");
      if (is <= kind::below && !is_figure(c.figure)) {
        refuse(node, fmt::format("no figure \"{}\"; known are {}", c.figure,
                                 fmt::join(figure_names(), ", ")));
      }
      if (is == kind::steady || is == kind::above || is == kind::below) {
        c.limit = limit(get<std::string>(node, "limit"), node);
      }
      return c;
    }
    refuse(node,
           "a condition is one of falls, steady, above, below, two_hold, one_holds, "
           "recovers, never_recovers");
  }

  // A plain number, or a duration in nanoseconds.
  double limit(const std::string& text, const YAML::Node& at) const {
    if (const auto time = config::parse_duration(text)) {
      return static_cast<double>(time->count());
    }
    try {
      return std::stod(text);
    } catch (const std::exception&) {
      refuse(at, fmt::format("limit: expected a number or a duration, not \"{}\"", text));
    }
  }

  std::string name_;
};

}  // namespace

std::vector<claim> read_claims(std::string_view text, std::string_view name) {
  const reader r(name);
  try {
    return r.read(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& e) {
    r.refuse(e.mark.line, e.msg);
  }
}

}  // namespace lockmark::claims
