#include "harness/config/settings.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <map>

#include "harness/config/parsed.hpp"

namespace lockmark::config {
namespace {

// Aliases can make a small file endless; no honest job comes near either bound.
constexpr int deepest = 4;
constexpr std::size_t most_settings = 10'000;

[[noreturn]] void fail(const std::string& file, int line, std::string_view sentence) {
  throw config_error(fmt::format("{}:{}: {}", file, line, sentence));
}

int line_of(const YAML::Mark& mark) {
  return mark.is_null() ? 1 : mark.line + 1;
}

// Walks the groups of one document.
class flattener {
 public:
  explicit flattener(const std::string& file) : file_(file) {}

  void add_group(const YAML::Node& group, const std::string& prefix, int depth) {
    for (const auto& entry : group) {
      const int line = line_of(entry.first.Mark());
      if (!entry.first.IsScalar()) fail(file_, line, "expected a key, not a list or a group");
      const std::string key = prefix + entry.first.Scalar();
      add_once(key, line);
      if (entry.second.IsMap() && entry.second.size() > 0) {
        if (depth == deepest) fail(file_, line, fmt::format("{}: is nested too deeply", key));
        add_group(entry.second, key + ".", depth + 1);
      } else {
        add_value(key, entry.second, line);
      }
    }
  }

  std::vector<setting> take() { return std::move(settings_); }

 private:
  void add_once(const std::string& key, int line) {
    const auto [first, is_new] = lines_.emplace(key, line);
    if (is_new) return;
    fail(file_, line, fmt::format("{}: is given twice, first in line {}", key, first->second));
  }

  void add_value(const std::string& key, const YAML::Node& value, int line) {
    if (settings_.size() == most_settings) {
      fail(file_, line, fmt::format("{}: is one key more than {}", key, most_settings));
    }
    using form = setting::form;
    if (value.IsScalar()) {
      settings_.push_back({key, value.Scalar(), form::text, line});
    } else {
      const form other = value.IsSequence() ? form::list : form::empty_group;
      settings_.push_back({key, "", value.IsNull() ? form::nothing : other, line});
    }
  }

  const std::string& file_;
  std::map<std::string, int> lines_;
  std::vector<setting> settings_;
};

std::string group_of(const std::string& key) {
  const auto dot = key.find('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

}  // namespace

std::vector<setting> read_settings(const std::string& yaml, const std::string& file) {
  flattener flat{file};
  try {
    const auto documents = YAML::LoadAll(yaml);
    if (documents.size() > 1) {
      fail(file, line_of(documents[1].Mark()), "expected one YAML document, not several");
    }
    if (documents.empty() || documents[0].IsNull()) return {};
    if (!documents[0].IsMap()) {
      fail(file, line_of(documents[0].Mark()), "expected lines of the form KEY: VALUE");
    }
    flat.add_group(documents[0], "", 1);
  } catch (const YAML::Exception& error) {
    fail(file, line_of(error.mark), fmt::format("is not valid YAML ({})", error.msg));
  }
  return flat.take();
}

std::string print_settings(const std::vector<std::pair<std::string, std::string>>& settings) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  std::string open_group;
  for (const auto& [key, text] : settings) {
    const std::string group = group_of(key);
    if (group != open_group) {
      if (!open_group.empty()) out << YAML::EndMap;
      if (!group.empty()) out << YAML::Key << group << YAML::Value << YAML::BeginMap;
      open_group = group;
    }
    out << YAML::Key << (group.empty() ? key : key.substr(group.size() + 1));
    out << YAML::Value << text;
  }
  if (!open_group.empty()) out << YAML::EndMap;
  out << YAML::EndMap;
  return std::string{out.c_str()} + "\n";
}

}  // namespace lockmark::config
