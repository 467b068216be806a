// Short options for what everybody sets. Each stands for settings of the job, which --set may
// change again.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "program/jobs.hpp"

namespace lockmark::cli {

struct short_options {
  std::string lock;
  std::string duration;
  std::string clients;
  std::string rate;
  std::string hold;
  std::string keys;
  std::string wait;

  bool operator==(const short_options&) const = default;
};

// All but --lock and --rate, for a table: several locks, some at shares of what they can do.
void declare_load(CLI::App& app, short_options& to);
void declare_short(CLI::App& app, short_options& to);

// What these options set in this job. Throws usage_error and config_error.
std::vector<std::string> settings_for(const std::string& path_or_name, const short_options& given);

// Those that are given, as "--hold=5ms".
std::vector<std::string> words_of(const short_options& given);

// The job with these options, and then with what --set says. Throws usage_error and config_error.
named_job find_job(const std::string& path_or_name, const short_options& given,
                   const std::vector<std::string>& set);

}  // namespace lockmark::cli
