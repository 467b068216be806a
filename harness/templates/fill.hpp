// Fills Mustache templates, files that CMake embeds (lockmark_templates), with data.
//
// A value enters the text escaped; {{{x}}} takes it as it is. An unknown value and an empty text
// are, like false, no section.
//
// A format may stand before a value's name, {{time a.b}}; a kind of template says what its formats
// do, also with an unknown value. All have
//   {{#some a b}}   a section, if one of them is above 0, or a list with something in it
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lockmark::templates {

using json = nlohmann::ordered_json;

// By name: the file's, without .mustache, or that of a line {{!> NAME}} within it, with which
// another template begins.
using texts = std::map<std::string_view, std::string_view>;

// The value of a name where the template stands; null if there is none.
using lookup = std::function<json(const std::string& name)>;

// Templates that may call each other, {{>name}}, and how they show values.
struct kind {
  const texts& all;
  std::string (*escaped)(const std::string& text);
  // The text of `format` for the value; nothing: there is no such format.
  std::optional<std::string> (*formatted)(const std::string& format, const json& value,
                                          const lookup& get) = nullptr;
  // True: a format throws json::out_of_range for a name that the data do not have. Null is unknown,
  // and so is what lies within it.
  bool strict = false;
};

// Throws std::logic_error for a template with mistakes, std::out_of_range if there is none.
std::string filled(const kind& of, std::string_view name, const json& data);

// For HTML and XML.
std::string in_markup(const std::string& text);
// For templates whose formats escape.
std::string unchanged(const std::string& text);

}  // namespace lockmark::templates
