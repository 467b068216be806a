// The claims file: every word is checked, since a misspelt key would change the claim.
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

enum class needs { labels, figure, figure_and_limit };

struct condition_word {
  std::string_view name;
  kind is;
  needs also;
};

constexpr std::array<condition_word, 9> words{
    {{"falls", kind::falls, needs::figure},
     {"steady", kind::steady, needs::figure_and_limit},
     {"above", kind::above, needs::figure_and_limit},
     {"below", kind::below, needs::figure_and_limit},
     {"never", kind::never, needs::figure},
     {"two_hold", kind::two_hold, needs::labels},
     {"one_holds", kind::one_holds, needs::labels},
     {"recovers", kind::recovers, needs::labels},
     {"never_recovers", kind::never_recovers, needs::labels}}};

class reader {
 public:
  explicit reader(std::string_view name) : name_(name) {}

  std::vector<claim> read(const YAML::Node& all) const {
    std::vector<claim> claims;
    for (const YAML::Node& node : all) claims.push_back(read_claim(node));
    return claims;
  }

  [[noreturn]] void refuse(int line, std::string_view what) const {
    throw usage_error("{}:{}: {}", name_, line + 1, what);
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

  void allow(const YAML::Node& node, std::initializer_list<std::string_view> keys) const {
    for (const auto& each : node) {
      const auto key = each.first.as<std::string>();
      if (std::ranges::find(keys, key) != keys.end()) continue;
      refuse(each.first, fmt::format("no key \"{}\"; known are {}", key, fmt::join(keys, ", ")));
    }
  }

  claim read_claim(const YAML::Node& node) const {
    allow(node, {"claim", "says", "predicts", "mind", "runs", "true_if", "partly", "explained_if"});
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
    for (const YAML::Node& each : node["explained_if"]) {
      c.explained_if.push_back(read_condition(each, c));
    }
    if (node["partly"]) {
      if (node["partly"].as<std::string>() != "depends") refuse(node, "partly can be: depends");
      c.partly = answer::depends;
    }
    return c;
  }

  experiment read_run(std::string label, const YAML::Node& node) const {
    allow(node, {"job", "topology", "lock", "set"});
    return {std::move(label), get<std::string>(node, "job"), get<std::string>(node, "topology"),
            get<std::string>(node, "lock"), node["set"] ? node["set"].as<names>() : names{}};
  }

  condition read_condition(const YAML::Node& node, const claim& of) const {
    for (const condition_word& word : words) {
      if (node[std::string(word.name)]) return read_condition(node, word, of);
    }
    refuse(node,
           "a condition is one of falls, steady, above, below, never, two_hold, one_holds, "
           "recovers, never_recovers");
  }

  condition read_condition(const YAML::Node& node, const condition_word& word,
                           const claim& of) const {
    const YAML::Node labels = node[std::string(word.name)];
    condition c{word.is, labels.as<names>()};
    for (const std::string& label : c.labels) {
      if (std::ranges::find(of.experiments, label, &experiment::label) == of.experiments.end()) {
        refuse(labels, fmt::format("no run is called \"{}\"", label));
      }
    }
    if (c.is == kind::steady && c.labels.size() != 2) refuse(labels, "steady compares two runs");
    if (word.also == needs::labels) {
      allow(node, {word.name});
      return c;
    }
    const auto name = get<std::string>(node, "figure");
    c.of = report::find_figure(name);
    if (c.of == nullptr) {
      refuse(node, fmt::format("no figure \"{}\"; known are {}", name, report::figure_names()));
    }
    if (word.also == needs::figure) {
      allow(node, {word.name, "figure"});
      return c;
    }
    allow(node, {word.name, "figure", "limit"});
    c.limit = limit(get<std::string>(node, "limit"), node);
    return c;
  }

  // A plain number, or a duration in nanoseconds.
  double limit(const std::string& text, const YAML::Node& at) const {
    if (const auto time = config::parse_duration(text)) {
      return static_cast<double>(time->count());
    }
    if (const auto plain = config::parse_number(text)) return *plain;
    refuse(at, fmt::format("limit: expected a number or a duration, not \"{}\"", text));
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
