#include "harness/claims/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockmark::claims {
namespace {

using json = nlohmann::ordered_json;

bool is_complete(const report::recorded_run& r) {
  return r.content.at("run").at("complete") == true;
}

std::optional<figure> sorted(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return figure{std::move(values)};
}

}  // namespace

std::string show(const figure& f, const report::figure& of) {
  const auto one = [&of](double value) { return report::value_text(of, value); };
  if (f.values.size() == 1) return one(f.median());
  return fmt::format("{} ({} to {})", one(f.median()), one(f.least()), one(f.most()));
}

double figure::median() const {
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

const std::vector<report::recorded_run>& evidence::of_label(std::string_view label) const {
  static const std::vector<report::recorded_run> none;
  const auto found = runs_.find(label);
  return found == runs_.end() ? none : found->second;
}

std::optional<figure> evidence::of(std::string_view label, const report::figure& what) const {
  std::vector<double> values;
  for (const auto& r : of_label(label)) {
    if (!is_complete(r)) continue;
    const auto read = report::read_figure(what, r.content);
    if (!read.value) return std::nullopt;
    values.push_back(*read.value);
  }
  return sorted(std::move(values));
}

std::uint64_t evidence::violated_runs(std::string_view label) const {
  const auto& all = of_label(label);
  return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [](const auto& r) {
    const json& found = r.content.at("verdict").at("violations");
    return found.is_number() && found > 0;
  }));
}

std::uint64_t evidence::runs(std::string_view label) const {
  return of_label(label).size();
}

std::uint64_t evidence::never_recovered(std::string_view label) const {
  const auto& all = of_label(label);
  return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [](const auto& r) {
    const auto faults = r.content.find("faults");
    return faults != r.content.end() && !faults->empty() &&
           faults->back().at("recovery_ns").is_null();
  }));
}

order compare(const figure& a, const figure& b) {
  if (a.most() < b.least()) return order::below;
  if (a.least() > b.most()) return order::above;
  return order::unclear;
}

}  // namespace lockmark::claims
