// YAML text as a flat list of settings, and back: strict about form, ignorant of meaning.
//
// Nested groups become dotted keys ("load: {clients: 4}" is "load.clients"), and the groups of a
// list are numbered from 1 ("faults: [{do: kill}]" is "faults.1.do"). Which keys exist and what
// their texts mean is the business of the options (option.hpp).
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/config/parsed.hpp"

namespace lockmark::config {

// A configuration that cannot be used. what() is one line: "file:line: key: sentence" for a file,
// "--set key: sentence" for the command line.
class config_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct setting {
  enum class form { text, nothing, list, empty_group };

  std::string key;   // dotted
  std::string text;  // as written, without YAML's quotes; empty unless `kind` is text
  form kind = form::text;
  int line = 0;  // of the key, from 1; 0 where there is no file
};

// The problem of a text that cannot be a dotted key, of which every character is a letter, a digit
// or one of "_-."; nothing where it can.
std::optional<problem> key_problem(std::string_view key);

// In the order of the file. Throws config_error for what is no YAML, is not one document with a map
// on top, gives a key twice, or nests deeper than options have names.
std::vector<setting> read_settings(const std::string& yaml, const std::string& file);

// YAML that read_settings reads back as these (key, text) pairs. Keys of one group, which is what
// stands before the first dot, must stand together.
std::string print_settings(const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace lockmark::config
