#include "dashboards/queries.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cctype>
#include <stdexcept>

namespace lockmark::dashboards {
namespace {

using json = nlohmann::json;

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The name at the beginning of the text after a '$', and its length including braces.
std::pair<std::string, std::size_t> variable_at(std::string_view text) {
  const bool braced = text.starts_with("{");
  std::size_t end = braced ? 1 : 0;
  const std::size_t begin = end;
  while (end < text.size() && is_name_char(text[end])) ++end;
  return {std::string(text.substr(begin, end - begin)), braced ? end + 1 : end};
}

}  // namespace

std::vector<query> queries_of(std::string_view file, const json& dashboard) {
  std::vector<query> all;
  for (const json& panel : dashboard.at("panels")) {
    for (const json& target : panel.value("targets", json::array())) {
      all.push_back({fmt::format("{}: panel '{}' {}", file, panel.value("title", ""),
                                 target.value("refId", "")),
                     target.value("expr", ""), target.value("legendFormat", "")});
    }
  }
  for (const json& variable : dashboard.at("templating").at("list")) {
    if (variable.value("type", "") != "query") continue;
    all.push_back({fmt::format("{}: variable '{}'", file, variable.value("name", "")),
                   variable.at("query").value("query", ""), ""});
  }
  for (const json& annotation : dashboard.at("annotations").at("list")) {
    all.push_back({fmt::format("{}: annotation '{}'", file, annotation.value("name", "")),
                   annotation.value("expr", ""), annotation.value("textFormat", "")});
  }
  return all;
}

std::string with_variables(std::string_view expr,
                           const std::map<std::string, std::string>& values) {
  std::string made;
  while (!expr.empty()) {
    const auto dollar = expr.find('$');
    made += expr.substr(0, dollar);
    if (dollar == expr.npos) break;
    expr.remove_prefix(dollar + 1);
    const auto [name, length] = variable_at(expr);
    const auto value = values.find(name);
    if (value == values.end()) throw std::runtime_error(fmt::format("no variable ${}", name));
    made += value->second;
    expr.remove_prefix(length);
  }
  return made;
}

std::vector<rule> rules_of(const std::filesystem::path& file) {
  std::vector<rule> all;
  for (const YAML::Node& group : YAML::LoadFile(file.string())["groups"]) {
    for (const YAML::Node& entry : group["rules"]) {
      const bool is_alert = entry["alert"].IsDefined();
      all.push_back({entry[is_alert ? "alert" : "record"].as<std::string>(),
                     entry["expr"].as<std::string>(), is_alert});
    }
  }
  return all;
}

std::vector<std::string> labels_in_legend(std::string_view legend) {
  std::vector<std::string> labels;
  for (;;) {
    const auto begin = legend.find("{{");
    const auto end = begin == legend.npos ? legend.npos : legend.find("}}", begin);
    if (end == legend.npos) return labels;
    labels.emplace_back(legend.substr(begin + 2, end - begin - 2));
    legend.remove_prefix(end + 2);
  }
}

}  // namespace lockmark::dashboards
