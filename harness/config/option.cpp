#include "harness/config/option.hpp"

#include <algorithm>
#include <numeric>

namespace lockmark::config {
namespace {

// Levenshtein distance, one row at a time (R. Wagner and M. Fischer, 1974).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

std::string_view last_part(std::string_view key) {
  return key.substr(key.rfind('.') + 1);
}

// The right last part in the wrong group, or a value mistaken for a group, is close.
std::size_t name_distance(std::string_view key, std::string_view name) {
  if (key.size() > name.size() && key.starts_with(name) && key[name.size()] == '.') return 1;
  const std::size_t whole = edit_distance(key, name);
  return std::min(whole, edit_distance(last_part(key), last_part(name)) + 1);
}

// The names that a key may have been meant for. A key without a dot may be a group: then groups are
// added, standing for their "group.*".
std::vector<std::string> candidates(std::string_view key, const std::vector<std::string>& names) {
  if (key.find('.') != std::string_view::npos) return names;
  std::vector<std::string> all;
  for (const std::string& name : names) {
    const auto dot = name.rfind('.');
    if (dot != std::string::npos) all.push_back(name.substr(0, dot));
    if (!name.ends_with(".*")) all.push_back(name);
  }
  return all;
}

std::string_view form_name(setting::form kind) {
  switch (kind) {
    case setting::form::text: break;
    case setting::form::nothing: return "an empty value";
    case setting::form::list: return "a list";
    case setting::form::empty_group: return "a group of keys";
  }
  return "a single value";
}

}  // namespace

std::string nearest_name(std::string_view key, const std::vector<std::string>& known) {
  // Real keys are short; an absurdly long one must not take absurdly long.
  const std::string_view start = key.substr(0, 50);
  const std::string* nearest = nullptr;
  std::size_t least = 0;
  for (const std::string& name : known) {
    const std::size_t distance = name_distance(start, name);
    if (nearest != nullptr && distance >= least) continue;
    nearest = &name;
    least = distance;
  }
  return *nearest;
}

bool names_key(std::string_view row_name, std::string_view key) {
  if (!row_name.ends_with(".*")) return row_name == key;
  const std::string_view group = row_name.substr(0, row_name.size() - 1);
  return key.size() > group.size() && key.starts_with(group);
}

problem wrong_form(std::string_view allowed, setting::form kind) {
  return {fmt::format("expected {}, not {}", allowed, form_name(kind))};
}

std::optional<problem> no_such_key(const setting& given, const std::vector<std::string>& known) {
  std::string members;
  for (const std::string& name : known) {
    if (!name.starts_with(given.key + ".")) continue;
    members += (members.empty() ? "" : ", ") + name;
  }
  if (!members.empty()) {
    if (given.kind == setting::form::empty_group) return std::nullopt;
    return wrong_form(fmt::format("a group of keys ({})", members), given.kind);
  }
  return problem{fmt::format("is an unknown key; the nearest known key is {}",
                             nearest_name(given.key, candidates(given.key, known)))};
}

}  // namespace lockmark::config
