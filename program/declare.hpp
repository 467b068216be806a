// Options that several commands declare in the same way.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lockmark::cli {

// --set KEY=VALUE, for keys of a job: may be given more than once, with one value each time.
inline void declare_set(CLI::App& app, std::vector<std::string>& to, const std::string& help) {
  app.add_option("--set", to, help)->type_name("KEY=VALUE")->take_all()->allow_extra_args(false);
}

// --format, one of `all`; the default is what `to` holds.
inline void declare_format(CLI::App& app, std::string& to, const std::string& help,
                           const std::vector<std::string>& all) {
  app.add_option("--format", to, help)->check(CLI::IsMember(all))->capture_default_str();
}

}  // namespace lockmark::cli
