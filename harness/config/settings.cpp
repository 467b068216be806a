#include "harness/config/settings.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace lockmark::config {
namespace {

// Aliases can expand a small file without limit; no real job comes near either bound.
constexpr int deepest = 4;
constexpr std::size_t most_settings = 10'000;

[[noreturn]] void fail(const std::string& file, int line, std::string_view sentence) {
  throw config_error(fmt::format("{}:{}: {}", file, line, sentence));
}

int line_of(const YAML::Mark& mark) {
  return mark.is_null() ? 1 : mark.line + 1;
}

// Records where documents begin and ignores their content.
class document_marks final : public YAML::EventHandler {
 public:
  int last_line() const { return last_line_; }

  void OnDocumentStart(const YAML::Mark& mark) override { last_line_ = line_of(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  int last_line_ = 1;
};

// YAML::Load reads the first document and silently ignores the rest; YAML::LoadAll (0.7) never
// returns from a stray comma between documents, which it takes for one empty document after
// another. So this looks only one step beyond the first document.
void require_one_document(const std::string& yaml, const std::string& file) {
  std::istringstream text{yaml};
  YAML::Parser parser{text};
  document_marks marks;
  if (parser.HandleNextDocument(marks) && parser.HandleNextDocument(marks)) {
    fail(file, marks.last_line(), "expected one YAML document with nothing behind it");
  }
}

// Walks the groups of one document.
class flattener {
 public:
  explicit flattener(const std::string& file) : file_(file) {}

  void add_group(const YAML::Node& group, const std::string& prefix, int depth) {
    for (const auto& entry : group) {
      const int line = line_of(entry.first.Mark());
      if (!entry.first.IsScalar()) fail(file_, line, "expected a key, not a list or a group");
      if (const auto wrong = key_problem(entry.first.Scalar())) fail(file_, line, wrong->sentence);
      const std::string key = prefix + entry.first.Scalar();
      add_once(key, line);
      if (is_group(entry.second)) {
        add_inner_group(key, entry.second, line, depth);
      } else if (is_list_of_groups(entry.second)) {
        add_list(key, entry.second, depth + 1);
      } else {
        add_value(key, entry.second, line);
      }
    }
  }

  std::vector<setting> take() { return std::move(settings_); }

 private:
  static bool is_group(const YAML::Node& value) { return value.IsMap() && value.size() > 0; }

  static bool is_list_of_groups(const YAML::Node& value) {
    return value.IsSequence() && value.size() > 0 &&
           std::all_of(value.begin(), value.end(), [](const auto& item) { return is_group(item); });
  }

  void add_inner_group(const std::string& key, const YAML::Node& group, int line, int depth) {
    if (depth == deepest) fail(file_, line, fmt::format("{}: is nested too deeply", key));
    add_group(group, key + ".", depth + 1);
  }

  void add_list(const std::string& key, const YAML::Node& items, int depth) {
    int number = 0;
    for (const auto& item : items) {
      const std::string numbered = fmt::format("{}.{}", key, ++number);
      const int line = line_of(item.Mark());
      add_once(numbered, line);
      add_inner_group(numbered, item, line, depth);
    }
  }

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

std::optional<problem> key_problem(std::string_view key) {
  const bool fits = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  if (fits) return std::nullopt;
  return expected("a key of letters, digits, '_', '-' and '.'", key);
}

std::vector<setting> read_settings(const std::string& yaml, const std::string& file) {
  flattener flat{file};
  try {
    require_one_document(yaml, file);
    const YAML::Node document = YAML::Load(yaml);
    if (document.IsNull()) return {};
    if (!document.IsMap()) {
      fail(file, line_of(document.Mark()), "expected lines of the form KEY: VALUE");
    }
    flat.add_group(document, "", 1);
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
