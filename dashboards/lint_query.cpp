// Parses only this much of PromQL: metric names, matchers, and the label lists after by, without,
// on, ignoring, group_left and group_right.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "dashboards/lint.hpp"

namespace lockmark::dashboards {
namespace {

class reader {
 public:
  reader(std::string_view where, std::string_view expr, const known_names& known)
      : where_(where), rest_(expr), known_(known) {}

  complaints read() {
    while (!rest_.empty()) {
      if (rest_.front() == '"') {
        string();
      } else if (begins_name(rest_.front())) {
        name(word());
      } else if (rest_.front() == '[') {
        rest_.remove_prefix(std::min(rest_.find(']'), rest_.size()));  // a duration is no name
      } else {
        rest_.remove_prefix(1);
      }
    }
    check_lists();
    return std::move(found_);
  }

 private:
  static bool begins_name(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
  }
  static bool is_label_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }

  void blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
      rest_.remove_prefix(1);
    }
  }
  std::string_view word() {
    const auto end =
        std::ranges::find_if(rest_, [](char c) { return !is_label_char(c) && c != ':'; });
    const std::string_view w(rest_.data(), static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(w.size());
    return w;
  }
  std::string_view string() {
    const auto end = std::min(rest_.find('"', 1), rest_.size() - 1);
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void name(std::string_view w) {
    static constexpr std::array<std::string_view, 6> lists{"by",       "without",    "on",
                                                           "ignoring", "group_left", "group_right"};
    blanks();
    if (std::ranges::count(lists, w) > 0 && rest_.starts_with("(")) return label_list();
    if (w.find("lockmark") == w.npos) return;
    const metric* of = nullptr;
    if (known_.recorded.contains(w)) {
      uses_recorded_ = true;
    } else if (of = find_metric(known_.metrics, w); of == nullptr) {
      complain(fmt::format("{} is not in METRICS.md, nor recorded by a rule", w));
    }
    if (of != nullptr) {
      for (const auto& [label, values] : of->labels) labels_.insert(label);
    }
    if (rest_.starts_with("{")) matchers(w, of);
  }

  void label_list() {
    const std::string_view list = rest_.substr(1, rest_.find(')') - 1);
    std::string label;
    for (const char c : list) {
      if (is_label_char(c)) {
        label += c;
      } else if (!label.empty()) {
        listed_.push_back(std::exchange(label, {}));
      }
    }
    if (!label.empty()) listed_.push_back(label);
    rest_.remove_prefix(list.size() + 1);
  }

  void matchers(std::string_view name, const metric* of) {
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '}') {
      if (!begins_name(rest_.front())) {
        rest_.remove_prefix(1);
        continue;
      }
      const std::string_view label = word();
      blanks();
      const auto quote = std::min(rest_.find('"'), rest_.size());
      const std::string_view how = rest_.substr(0, quote);
      rest_.remove_prefix(quote);
      if (rest_.empty()) return complain(fmt::format("{}: a matcher without a value", name));
      matcher(name, of, label, how, string());
    }
  }

  void matcher(std::string_view name, const metric* of, std::string_view label,
               std::string_view how, std::string_view value) {
    if (of == nullptr) return;
    const auto it = of->labels.find(label);
    if (it == of->labels.end()) return complain(fmt::format("{} has no label {}", name, label));
    if (it->second.empty() || value.starts_with("$")) return;
    const bool is_pattern = how.find('~') != how.npos;
    for (const std::string& one : split(value, is_pattern ? '|' : '\0')) {
      if (one.find('*') != one.npos || it->second.contains(one)) continue;
      complain(fmt::format("{} never has {}=\"{}\"", name, label, one));
    }
  }

  static std::vector<std::string> split(std::string_view text, char by) {
    std::vector<std::string> parts{""};
    for (const char c : text) {
      if (c == by) {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    return parts;
  }

  // A label in a list must belong to some metric of the query. A recorded series has the labels of
  // its source metrics, which are not looked up.
  void check_lists() {
    if (uses_recorded_) return;
    for (const std::string& label : listed_) {
      if (!labels_.contains(label)) complain(fmt::format("no metric here has a label {}", label));
    }
  }

  void complain(std::string what) { found_.push_back(fmt::format("{}: {}", where_, what)); }

  std::string_view where_;
  std::string_view rest_;
  const known_names& known_;
  bool uses_recorded_ = false;
  std::set<std::string> labels_;
  std::vector<std::string> listed_;
  complaints found_;
};

}  // namespace

complaints complaints_about_query(std::string_view where, std::string_view expr,
                                  const known_names& known) {
  return reader(where, expr, known).read();
}

}  // namespace lockmark::dashboards
