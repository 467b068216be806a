// Options: each is declared once, and the declaration drives everything done with it.
//
//   declare("lease", &job::lease, "30s", {1ms, 24h}, "how long the server keeps the lock ...")
//
// gives the option's name, type (that of the member), default, bounds and help. Tables of such rows
// feed the YAML reader, --set, --help and the printing of the resolved job. Specialise text_form to
// make a type usable in a table.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/config/distribution.hpp"
#include "harness/config/key_choice.hpp"
#include "harness/config/parsed.hpp"
#include "harness/config/quantity.hpp"
#include "harness/config/retry_policy.hpp"
#include "harness/config/settings.hpp"

namespace lockmark::config {

// The text form of a type: `what` for help and errors; parse and print, which are inverses.
template <class T>
struct text_form;

// By a pair of functions.
template <auto parse_text, auto print_value>
struct text_functions {
  static constexpr auto parse = parse_text;
  static constexpr auto print = print_value;
};

// Of an enumeration, by the names of its values in their order.
template <class T, const auto& names>
struct text_names {
  static parsed<T> parse(std::string_view text) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) return expected(text_form<T>::what, text);
    return static_cast<T>(found - names.begin());
  }
  static std::string print(T value) { return std::string{names[static_cast<std::size_t>(value)]}; }
};

template <>
struct text_form<bool> : text_functions<parse_bool, print_bool> {
  static constexpr std::string_view what = "true or false";
};

template <>
struct text_form<std::uint64_t> : text_functions<parse_count, print_count> {
  static constexpr std::string_view what = "a whole number";
};

template <>
struct text_form<double> : text_functions<parse_number, print_number> {
  static constexpr std::string_view what = "a number";
};

template <>
struct text_form<duration> : text_functions<parse_duration, print_duration> {
  static constexpr std::string_view what = "a duration";
};

template <>
struct text_form<rate> : text_functions<parse_rate, print_rate> {
  static constexpr std::string_view what = "a rate such as 200/s, 1500/m or 0.5/h";
};

template <>
struct text_form<distribution> : text_functions<parse_distribution, print_distribution> {
  static constexpr std::string_view what = distribution::forms;
};

template <>
struct text_form<key_choice> : text_functions<parse_key_choice, print_key_choice> {
  static constexpr std::string_view what = key_choice::forms;
};

template <>
struct text_form<retry_policy> : text_functions<parse_retry_policy, print_retry_policy> {
  static constexpr std::string_view what = retry_policy::forms;
};

template <>
struct text_form<std::string> {
  static constexpr std::string_view what = "a name";
  static parsed<std::string> parse(std::string_view text) { return std::string{text}; }
  static std::string print(const std::string& value) { return value; }
};

// An absent value is written "none".
template <class T>
struct text_form<std::optional<T>> {
  static constexpr std::string_view what = text_form<T>::what;
  static parsed<std::optional<T>> parse(std::string_view text) {
    if (text == "none") return std::optional<T>{};
    const auto value = text_form<T>::parse(text);
    if (!value) return value.error();
    return std::optional<T>{*value};
  }
  static std::string print(const std::optional<T>& value) {
    return value ? text_form<T>::print(*value) : "none";
  }
};

// Both ends are included.
template <class T>
struct bounds {
  T least;
  T greatest;
};

// One row of a table of options for the settings in S.
template <class S>
struct option {
  std::string name;      // dotted; "group.*" takes every key of the group
  std::string fallback;  // the default, as a user would write it; empty for "group.*"
  std::string allowed;   // "a duration from 1ms to 24h"
  std::string help;      // its meaning, without a full stop

  // Sets the value under this key, or returns the problem.
  std::function<std::optional<problem>(S&, std::string_view key, std::string_view text)> read;
  // (key, text) as set; any number of them for "group.*".
  std::function<std::vector<std::pair<std::string, std::string>>(const S&)> write;
};

template <class S>
using option_table = std::vector<option<S>>;

template <class S, class T>
option<S> declare(std::string name, T S::*member, std::string fallback, std::string help) {
  const auto read = [member](S& target, std::string_view,
                             std::string_view text) -> std::optional<problem> {
    auto value = text_form<T>::parse(text);
    if (!value) return value.error();
    target.*member = *value;
    return std::nullopt;
  };
  const auto write = [name, member](const S& source) {
    return std::vector{std::pair{name, text_form<T>::print(source.*member)}};
  };
  return {name, std::move(fallback), std::string{text_form<T>::what}, std::move(help), read, write};
}

template <class S, class T>
option<S> declare(std::string name, T S::*member, std::string fallback,
                  bounds<std::type_identity_t<T>> range, std::string help) {
  option<S> row = declare(std::move(name), member, std::move(fallback), std::move(help));
  row.allowed = fmt::format("{} from {} to {}", text_form<T>::what,
                            text_form<T>::print(range.least), text_form<T>::print(range.greatest));
  row.read = [member, range, allowed = row.allowed](
                 S& target, std::string_view, std::string_view text) -> std::optional<problem> {
    auto value = text_form<T>::parse(text);
    if (!value) return value.error();
    if (*value < range.least || range.greatest < *value) return expected(allowed, text);
    target.*member = *value;
    return std::nullopt;
  };
  return row;
}

// A group whose keys this table does not know: they are kept as text for their owner.
template <class S>
option<S> declare_group(std::string group, std::map<std::string, std::string> S::*member,
                        std::string help) {
  const auto read = [group, member](S& target, std::string_view key,
                                    std::string_view text) -> std::optional<problem> {
    (target.*member)[std::string{key.substr(group.size() + 1)}] = std::string{text};
    return std::nullopt;
  };
  const auto write = [group, member](const S& source) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [key, text] : source.*member) all.emplace_back(group + "." + key, text);
    return all;
  };
  return {group + ".*", "", "a value", std::move(help), read, write};
}

// The name a user most likely meant by an unknown key: the one with the least edit distance, of the
// whole key or of its last part. REQUIRES: known is not empty.
std::string nearest_name(std::string_view key, const std::vector<std::string>& known);

// True if the row handles the key.
bool names_key(std::string_view row_name, std::string_view key);

// The problem of giving a form other than text where `allowed` is expected.
problem wrong_form(std::string_view allowed, setting::form kind);

// The problem of a key that no row names. It is a group, of which only members can be set (an empty
// group is fine), or it is unknown; then the problem names the nearest known key.
std::optional<problem> no_such_key(const setting& given, const std::vector<std::string>& known);

// Applies one setting through the row that handles its key.
template <class S>
std::optional<problem> apply(const option_table<S>& table, S& target, const setting& given) {
  for (const option<S>& row : table) {
    if (!names_key(row.name, given.key)) continue;
    if (given.kind != setting::form::text) return wrong_form(row.allowed, given.kind);
    return row.read(target, given.key, given.text);
  }
  std::vector<std::string> known;
  for (const option<S>& row : table) known.push_back(row.name);
  return no_such_key(given, known);
}

// Sets every option to its default. Throws std::logic_error if a row refuses its own default, which
// is a mistake in the table.
template <class S>
void apply_defaults(const option_table<S>& table, S& target) {
  for (const option<S>& row : table) {
    if (row.fallback.empty() && row.name.ends_with(".*")) continue;
    const auto wrong = row.read(target, row.name, row.fallback);
    if (wrong) throw std::logic_error(fmt::format("default of {}: {}", row.name, wrong->sentence));
  }
}

// All settings in the order of the table.
template <class S>
std::vector<std::pair<std::string, std::string>> write_all(const option_table<S>& table,
                                                           const S& source) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const option<S>& row : table) {
    for (auto& written : row.write(source)) all.push_back(std::move(written));
  }
  return all;
}

// Three lines per option: name and default, allowed values, meaning.
template <class S>
std::string help_for(const option_table<S>& table) {
  std::string text;
  for (const option<S>& row : table) {
    const std::string fallback = row.fallback.empty() ? "" : " = " + row.fallback;
    text += fmt::format("  {}{}\n      {}\n      {}\n", row.name, fallback, row.allowed, row.help);
  }
  return text;
}

}  // namespace lockmark::config
