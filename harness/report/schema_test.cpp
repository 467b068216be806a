// The written run.json conforms to results/schema/run.schema.json.
//
// Debian 12 has no validator for C++, so this implements the part of JSON Schema that the file
// uses: type, required, properties, items, enum, pattern, minimum, anyOf and $ref into $defs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/run/result_json.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsEmpty;

class validator {
 public:
  explicit validator(json schema) : root_(std::move(schema)) {}

  std::vector<std::string> complaints(const json& value) const {
    std::vector<std::string> found;
    check(root_, value, "", found);
    return found;
  }

 private:
  using list = std::vector<std::string>;

  static bool is_a(const json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == value.type_name();
  }

  static bool has_type(const json& types, const json& value) {
    if (types.is_string()) return is_a(value, types);
    return std::any_of(types.begin(), types.end(),
                       [&](const json& type) { return is_a(value, type); });
  }

  static bool matches(const std::string& text, const std::string& pattern) {
    regex_t compiled;
    if (regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0) return false;
    const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
    regfree(&compiled);
    return found;
  }

  void check(const json& schema, const json& value, const std::string& at, list& found) const {
    if (schema.contains("$ref")) {
      const std::string ref = schema["$ref"];
      return check(root_.at(json::json_pointer(ref.substr(1))), value, at, found);
    }
    if (schema.contains("anyOf")) return check_any(schema["anyOf"], value, at, found);
    if (!schema.contains("type")) found.push_back(at + ": its schema has no type");
    if (schema.contains("type") && !has_type(schema["type"], value)) {
      found.push_back(at + ": is " + value.type_name());
      return;
    }
    if (schema.contains("enum") &&
        std::count(schema["enum"].begin(), schema["enum"].end(), value) == 0) {
      found.push_back(at + ": is " + value.dump());
    }
    if (schema.contains("pattern") && value.is_string() && !matches(value, schema["pattern"])) {
      found.push_back(at + ": is " + value.dump());
    }
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"]) {
      found.push_back(at + ": is " + value.dump());
    }
    check_members(schema, value, at, found);
  }

  void check_any(const json& schemas, const json& value, const std::string& at, list& found) const {
    list last;
    for (const json& schema : schemas) {
      last.clear();
      check(schema, value, at, last);
      if (last.empty()) return;
    }
    found.insert(found.end(), last.begin(), last.end());
  }

  void check_members(const json& schema, const json& value, const std::string& at,
                     list& found) const {
    if (value.is_object() && schema.contains("properties")) {
      for (const json& name : schema.value("required", json::array())) {
        if (!value.contains(name.get<std::string>())) {
          found.push_back(at + "/" + name.get<std::string>() + ": is missing");
        }
      }
      for (const auto& [name, member] : value.items()) {
        const std::string where = at + "/" + name;
        if (schema["properties"].contains(name)) {
          check(schema["properties"][name], member, where, found);
        } else {
          found.push_back(where + ": is not in the schema");
        }
      }
    }
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        check(schema["items"], value[i], at + "/" + std::to_string(i), found);
      }
    }
  }

  json root_;
};

validator run_schema() {
  std::ifstream in("results/schema/run.schema.json");
  return validator(json::parse(in));
}

// All keys set, with a violation, a floor and server counters.
TEST(run_schema, accepts_a_complete_run) {
  run::sample_run s;
  const check::violation v = run::sample_violation(s.r);
  s.r.found.violations = {v};
  s.r.found.violation_holds = {v.key, {v.first, v.second}, {{0, 1}}};
  EXPECT_THAT(run_schema().complaints(run::to_json(s.r)), IsEmpty());
}

// Almost everything unknown; still running; optimistic; an open loop.
TEST(run_schema, accepts_what_is_unknown) {
  run::sample_run s;
  const run::result blank;
  EXPECT_THAT(run_schema().complaints(run::to_json(blank)), IsEmpty());
  EXPECT_THAT(run_schema().complaints(run::to_json_while_running(s.known())), IsEmpty());
  s.r.lock_has = feature::optimistic;
  s.r.self.closed_loop = false;
  s.r.verdict.bound = true;
  EXPECT_THAT(run_schema().complaints(run::to_json(s.r)), IsEmpty());
}

// The checker must be able to fail, or the tests above would prove nothing.
TEST(run_schema, refuses_what_is_wrong) {
  const json good = run::to_json(run::sample_run{}.r);
  json bad = good;
  bad["verdict"].erase("held");
  bad["run"]["status"] = "done";
  bad["tps"] = "many";
  bad["quantiles"]["response"]["quantiles"][0]["value_ns"] = "about 5";
  bad["handoff"]["transfer"]["count"] = -1;
  bad["surprise"] = 1;
  EXPECT_THAT(run_schema().complaints(bad),
              testing::UnorderedElementsAre(
                  "/verdict/held: is missing", "/run/status: is \"done\"", "/tps: is string",
                  "/quantiles/response/quantiles/0/value_ns: is \"about 5\"",
                  "/handoff/transfer: is object", "/surprise: is not in the schema"));
  EXPECT_THAT(run_schema().complaints(json::array()), ElementsAre(": is array"));
}

}  // namespace
}  // namespace lockmark::report
