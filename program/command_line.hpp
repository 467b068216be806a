// The command line as values, for generating shell completion and the man page.
//
// Everything is read from the declarations themselves: commands, options and their checks from
// CLI11, keys of a job from config, names from the tables of locks, workloads, jobs, topologies.
#pragma once

#include <CLI/App.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "program/catalogue.hpp"

namespace lockmark::cli {

struct described_option {
  std::vector<std::string> names;    // "-h", "--help"; none: a positional argument
  std::string place;                 // "job"
  std::string value;                 // "TARGET"; empty: a flag
  std::vector<std::string> allowed;  // all values, if the option only takes certain ones
  std::string preset;
  std::string help;
  bool required = false;
  bool repeats = false;
  char delimiter = '\0';  // between several values in one word
};

struct described_command {
  std::string name;
  std::string help;
  std::vector<described_option> options;
};

// A key of a job, in the form of `--set KEY=VALUE`.
struct described_key {
  std::string name;     // "load.loop"
  std::string preset;   // empty: none
  std::string allowed;  // "closed, open, poisson or partly_open"
  std::string help;
  std::vector<std::string> values;  // all or the usual ones, if they can be listed
};

struct command_line {
  std::string name;
  std::string summary;
  std::string footer;
  std::vector<described_option> options;
  std::vector<described_command> commands;
  std::vector<described_key> keys;
  std::map<std::string, std::vector<std::string>> words;  // known values of LOCK, JOB ...
};

command_line describe(const CLI::App& app, const catalogue& known);

// Values whose completion is left to the shell.
inline bool is_folder(std::string_view value) {
  return value == "DIR" || value == "RUN";
}
inline bool is_file(std::string_view value) {
  return value == "FILE" || value == "JOB";
}

// The items of "closed, open or poisson"; none unless all of them are single words.
std::vector<std::string> listed(std::string_view text);

}  // namespace lockmark::cli
