// A run.json with any value anywhere: every report of it is text, or a usage_error.
//
// Every three bytes of the input change one value of a real run.json: which one, and to what. An
// input that begins with '{' is itself a whole run.json.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

#include "harness/base/errors.hpp"
#include "harness/report/fault_matrix.hpp"
#include "harness/report/junit.hpp"
#include "harness/report/markdown.hpp"
#include "harness/report/read.hpp"
#include "harness/report/row.hpp"
#include "harness/report/run_text.hpp"
#include "harness/report/table.hpp"

namespace {

using namespace lockmark;
using namespace lockmark::report;
using json = nlohmann::ordered_json;

const json& real_content() {
  static const json content = read_run(LOCKMARK_RUN_JSON).content;
  return content;
}

const std::array<json, 24>& odd_values() {
  static const std::array<json, 24> all{json(),           json(true),
                                        json(false),      json(0),
                                        json(1),          json(-1),
                                        json(0.5),        json(1e300),
                                        json(-1e-9),      json(INT64_MAX),
                                        json(""),         json("> 5"),
                                        json("> "),       json("> 9e9"),
                                        json("a|b"),      json("\n# <b>"),
                                        json("\x1b"),     json::array(),
                                        json(-5.5),       json("held"),
                                        json({1, 2}),     json::object({{"a", 1}}),
                                        json(UINT64_MAX), json(INT64_MIN)};
  return all;
}

// In text order, so that a value comes before the values inside it.
void collect(json& value, std::vector<json*>& into) {
  into.push_back(&value);
  if (!value.is_structured()) return;
  for (json& part : value) collect(part, into);
}

json changed(std::string_view bytes) {
  json content = real_content();
  std::vector<json*> values;
  collect(content, values);
  std::vector<std::pair<std::size_t, std::uint8_t>> changes;
  for (; bytes.size() >= 3; bytes.remove_prefix(3)) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
    changes.emplace_back((byte(0) * 256U + byte(1)) % values.size(), byte(2));
  }
  // From the end, so that no change removes a value that another one changes.
  std::ranges::stable_sort(changes, std::greater<>{}, &decltype(changes)::value_type::first);
  for (const auto& [which, kind] : changes) {
    json& value = *values[which];
    if (which > 0 && kind >= 200 && value.is_object() && !value.empty()) {
      value.erase(std::next(value.begin(), kind % static_cast<std::ptrdiff_t>(value.size())));
    } else if (which > 0) {
      value = odd_values()[kind % odd_values().size()];
    }
  }
  return content;
}

template <class Tell>
void tell(Tell report_of) {
  try {
    report_of();
  } catch (const usage_error& refused) {
    assert(!std::string_view{refused.what()}.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  recorded_run run{"run", {}};
  try {
    run = bytes.starts_with('{') ? run_in(bytes, "run/run.json")
                                 : recorded_run{"run", changed(bytes)};
  } catch (const usage_error&) {
    return 0;
  }
  tell([&] { assert(row_of(run).run == run.name); });
  tell([&] { assert(!verdict_sentence(run).empty()); });
  tell([&] { assert(!run_summary_terminal(run).empty()); });
  tell([&] { assert(run_markdown(run).size() <= most_markdown_bytes); });
  tell([&] { junit_xml({test_case_of(run)}); });
  tell([&] { fault_matrix_markdown(fault_cells({run})); });
  return 0;
}
