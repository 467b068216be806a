#include "harness/report/html/template.hpp"

#include <fmt/core.h>

#include <deque>
#include <kainjow/mustache.hpp>
#include <sstream>
#include <stdexcept>

#include "harness/report/html/assets.hpp"

namespace lockmark::report::html {
namespace {

using kainjow::mustache::data;

// A run.json of others may be nested more deeply than the stack is.
constexpr int deepest = 20;

// Unknown is absent; an empty text is false, since the library takes it for true.
data data_of(const json& value, int depth = 0) {
  if (value.is_object() && depth < deepest) {
    kainjow::mustache::object members;
    for (const auto& [key, member] : value.items()) {
      if (!member.is_null()) members.emplace(key, data_of(member, depth + 1));
    }
    return members;
  }
  if (value.is_array() && depth < deepest) {
    kainjow::mustache::list all;
    for (const json& one : value) all.push_back(data_of(one, depth + 1));
    return all;
  }
  if (value.is_number()) return value.dump();
  if (!value.is_string()) return is_true(value);
  const std::string text = value.get<std::string>();
  return text.empty() ? data(false) : data(text);
}

json number_or_text(const std::string& text) {
  json number = json::parse(text, nullptr, false);
  return number.is_number() ? number : json(text);
}

bool is_some(const data* value) {
  if (value == nullptr) return false;
  if (value->is_string()) return real_of(number_or_text(value->string_value())) > 0;
  return value->is_true() || value->is_non_empty_list() || value->is_non_empty_object();
}

std::string text_of(const data* value, const std::string& unknown) {
  return value == nullptr ? unknown : value->is_string() ? value->string_value() : "";
}

std::string formatted(const std::string& format, const data* value, bool bound) {
  if (format == "text") return text_of(value, "unknown");
  if (format == "value") return text_of(value, "-");
  const json content =
      value != nullptr && value->is_string() ? number_or_text(value->string_value()) : json();
  if (format == "count") return std::to_string(count_of(content));
  if (format == "share") return shown_share(content);
  if (format == "time") return shown_time(content);
  if (format == "own_time") return shown_time(content, bound);
  if (format == "s") return fmt::format("{:.1f}", real_of(content) / 1e9);
  if (format == "ms") return content.is_number() ? shown_number(real_of(content) / 1e6, 3) : "-";
  if (format.size() == 3 && format[0] == '.') return shown_number(content, format[1] - '0');
  throw std::logic_error(fmt::format("there is no format {}", format));
}

// Understands formats; takes partials from our own templates only, never from a run's data.
class values : public kainjow::mustache::context<std::string> {
 public:
  explicit values(const data& all) : context(&all) {}

  const data* get(const std::string& name) const override {
    const auto space = name.find(' ');
    if (space == std::string::npos) return context::get(name);
    const std::string format = name.substr(0, space), rest = name.substr(space + 1);
    if (format == "some") return keep(some(rest));
    const data* const bound = context::get("bound");
    return keep(formatted(format, context::get(rest), bound != nullptr && bound->is_true()));
  }

  const data* get_partial(const std::string& name) const override {
    return keep(std::string(templates.at(name)));
  }

 private:
  bool some(const std::string& names) const {
    std::istringstream each(names);
    for (std::string name; each >> name;) {
      if (is_some(context::get(name))) return true;
    }
    return false;
  }

  // The library holds on to a section's value until the section ends.
  const data* keep(const data& value) const {
    made_.push_back(value);
    return &made_.back();
  }

  mutable std::deque<data> made_;
};

}  // namespace

std::string filled(const std::string& name, const json& content) {
  kainjow::mustache::mustache page{std::string(templates.at(name))};
  const data all = data_of(content);
  values found(all);
  std::ostringstream text;
  if (page.is_valid()) page.render(found, text);
  if (!page.is_valid()) throw std::logic_error(fmt::format("{}: {}", name, page.error_message()));
  return text.str();
}

}  // namespace lockmark::report::html
