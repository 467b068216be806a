// YAML text as a flat list of settings, and back: strict about form, ignorant of meaning.
//
// Nested groups become dotted keys ("load: {clients: 4}" is "load.clients"), and the groups of a
// list are numbered from 1 ("faults: [{do: kill}]" is "faults.1.do"). The options (option.hpp)
// define which keys exist and what their texts mean.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/config/parsed.hpp"

namespace lockmark::config {

// An unusable configuration. what() is one line: "file:line: key: sentence" for a file, "--set key:
// sentence" for the command line.
class config_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct setting {
  enum class form { text, nothing, list, empty_group };

  std::string key;   // dotted
  std::string text;  // as written, without YAML's quotes; empty unless `kind` is text
  form kind = form::text;
  int line = 0;  // of the key, from 1; 0 without a file
};

// The problem of a text that is not a valid dotted key: only letters, digits and "_-." are allowed.
// Nothing if it is valid.
std::optional<problem> key_problem(std::string_view key);

// In file order. Throws config_error if the text is not YAML, is not one document with a map on
// top, sets a key twice, or nests deeper than option names do.
std::vector<setting> read_settings(const std::string& yaml, const std::string& file);

// YAML that read_settings reads back as these (key, text) pairs. Keys of one group (the part before
// the first dot) must be adjacent.
std::string print_settings(const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace lockmark::config
