// Lists as text, and lists without repetitions.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace lockmark {

// "a, b, c": what `text` gives for each.
template <class Range, class Text = std::identity>
std::string joined(const Range& all, Text text = {}, std::string_view between = ", ") {
  std::string list;
  bool first = true;
  for (const auto& one : all) {
    if (!std::exchange(first, false)) list += between;
    list += std::invoke(text, one);
  }
  return list;
}

// What `value` gives for each: each once, in the order of the first.
template <class Range, class Value = std::identity>
auto distinct(const Range& all, Value value = {}) {
  std::vector<std::decay_t<std::invoke_result_t<Value, decltype(*all.begin())>>> once;
  for (const auto& one : all) {
    auto found = std::invoke(value, one);
    if (std::ranges::find(once, found) == once.end()) once.push_back(std::move(found));
  }
  return once;
}

}  // namespace lockmark
