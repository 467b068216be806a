#include "harness/templates/fill.hpp"

#include <fmt/core.h>

#include <deque>
#include <kainjow/mustache.hpp>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

namespace lockmark::templates {
namespace {

using kainjow::mustache::data;

// A file of others may be nested more deeply than the stack is.
constexpr int deepest = 20;

// Unknown and an empty text are false, since the library takes any text for true.
data data_of(const json& value, int depth = 0) {
  if (value.is_object() && depth < deepest) {
    kainjow::mustache::object members;
    for (const auto& [key, member] : value.items())
      members.emplace(key, data_of(member, depth + 1));
    return members;
  }
  if (value.is_array() && depth < deepest) {
    kainjow::mustache::list all;
    for (const json& one : value) all.push_back(data_of(one, depth + 1));
    return all;
  }
  if (value.is_number()) return value.dump();
  if (!value.is_string()) return value.is_boolean() && value.get<bool>();
  const std::string text = value.get<std::string>();
  return text.empty() ? data(false) : data(text);
}

bool is_some(const json& value) {
  if (value.is_number()) return value > 0;
  return value.is_structured() ? !value.empty() : value == true;
}

// Understands formats; takes partials from our own templates only, never from the data.
class values : public kainjow::mustache::context<std::string> {
 public:
  values(const kind& of, const data& all, const json& content) : context(&all), of_(of) {
    remember(all, content);
  }

  const data* get(const std::string& name) const override {
    const auto space = name.find(' ');
    if (space == std::string::npos) return context::get(name);
    const std::string format = name.substr(0, space), rest = name.substr(space + 1);
    if (format == "some") return keep(some(rest));
    const lookup look = [this](const std::string& other) { return value_of(other); };
    auto text = of_.formatted == nullptr ? std::nullopt : of_.formatted(format, look(rest), look);
    if (!text) throw std::logic_error(fmt::format("there is no format {}", format));
    return keep(std::move(*text));
  }

  const data* get_partial(const std::string& name) const override {
    return keep(std::string(of_.all.at(name)));
  }

 private:
  // The library knows texts only; formats see numbers as numbers and texts as texts.
  void remember(const data& shown, const json& value) {
    values_[&shown] = &value;
    if (shown.is_object()) {
      for (const auto& [key, member] : value.items()) remember(*shown.get(key), member);
    } else if (shown.is_list()) {
      for (std::size_t i = 0; i < value.size(); ++i) remember(shown.list_value()[i], value[i]);
    }
  }

  const json& value_of(const std::string& name) const {
    static const json unknown;
    for (auto end = name.find('.', 1);; end = name.find('.', end + 1)) {
      const auto found = values_.find(context::get(name.substr(0, end)));
      if (found == values_.end()) {
        if (of_.strict) refuse(name.substr(0, end));
        return unknown;
      }
      if (end == std::string::npos || found->second->is_null()) return *found->second;
    }
  }

  // As json::at does.
  [[noreturn]] static void refuse(const std::string& path) {
    const std::string key = path.substr(path.rfind('.') + 1);
    throw json::out_of_range::create(403, fmt::format("key '{}' not found", key), nullptr);
  }

  bool some(const std::string& names) const {
    std::istringstream each(names);
    for (std::string name; each >> name;) {
      const auto found = values_.find(context::get(name));
      if (found != values_.end() && is_some(*found->second)) return true;
    }
    return false;
  }

  // The library holds on to a section's value until the section ends.
  const data* keep(const data& value) const {
    made_.push_back(value);
    return &made_.back();
  }

  const kind& of_;
  std::unordered_map<const data*, const json*> values_;
  mutable std::deque<data> made_;
};

}  // namespace

std::string filled(const kind& of, std::string_view name, const json& content) {
  kainjow::mustache::mustache page{std::string(of.all.at(name))};
  page.set_custom_escape(of.escaped);
  const data all = data_of(content);
  values found(of, all, content);
  std::ostringstream text;
  if (page.is_valid()) page.render(found, text);
  if (!page.is_valid()) throw std::logic_error(fmt::format("{}: {}", name, page.error_message()));
  std::string lines = text.str();
  std::erase(lines, '\1');  // where lines begin; see embed.cmake
  return lines;
}

std::string in_markup(const std::string& text) {
  return kainjow::mustache::html_escape(text);
}

std::string unchanged(const std::string& text) {
  return text;
}

}  // namespace lockmark::templates
