#include "harness/templates/fill.hpp"

#include <fmt/core.h>

#include <deque>
#include <kainjow/mustache.hpp>
#include <sstream>
#include <stdexcept>

namespace lockmark::templates {
namespace {

using kainjow::mustache::data;

// A file of others may be nested more deeply than the stack is.
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
  if (!value.is_string()) return value.is_boolean() && value.get<bool>();
  const std::string text = value.get<std::string>();
  return text.empty() ? data(false) : data(text);
}

json json_of(const data* value) {
  if (value == nullptr) return {};
  if (!value->is_string()) return value->is_false() ? json("") : json(true);
  json number = json::parse(value->string_value(), nullptr, false);
  return number.is_number() ? number : json(value->string_value());
}

bool is_some(const data* value) {
  if (value == nullptr) return false;
  const json as = json_of(value);
  if (value->is_string()) return as.is_number() && as > 0;
  return value->is_true() || value->is_non_empty_list() || value->is_non_empty_object();
}

// Understands formats; takes partials from our own templates only, never from the data.
class values : public kainjow::mustache::context<std::string> {
 public:
  values(const kind& of, const data& all) : context(&all), of_(of) {}

  const data* get(const std::string& name) const override {
    const auto space = name.find(' ');
    if (space == std::string::npos) return context::get(name);
    const std::string format = name.substr(0, space), rest = name.substr(space + 1);
    if (format == "some") return keep(some(rest));
    const lookup look = [this](const std::string& other) { return json_of(context::get(other)); };
    auto text = of_.formatted == nullptr ? std::nullopt : of_.formatted(format, look(rest), look);
    if (!text) throw std::logic_error(fmt::format("there is no format {}", format));
    return keep(std::move(*text));
  }

  const data* get_partial(const std::string& name) const override {
    return keep(std::string(of_.all.at(name)));
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

  const kind& of_;
  mutable std::deque<data> made_;
};

}  // namespace

std::string filled(const kind& of, std::string_view name, const json& content) {
  kainjow::mustache::mustache page{std::string(of.all.at(name))};
  page.set_custom_escape(of.escaped);
  const data all = data_of(content);
  values found(of, all);
  std::ostringstream text;
  if (page.is_valid()) page.render(found, text);
  if (!page.is_valid()) throw std::logic_error(fmt::format("{}: {}", name, page.error_message()));
  return text.str();
}

std::string in_markup(const std::string& text) {
  return kainjow::mustache::html_escape(text);
}

std::string unchanged(const std::string& text) {
  return text;
}

}  // namespace lockmark::templates
