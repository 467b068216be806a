// Options that several commands declare in the same way.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lockmark::cli {

// An option with a value of this type; help shows what `to` holds as its default.
template <class T>
void declare(CLI::App& app, const std::string& name, T& to, const std::string& type,
             const std::string& help) {
  auto* const option = app.add_option(name, to, help)->type_name(type);
  if (!to.empty()) option->capture_default_str();
}

// May be given more than once, with one value each time.
inline void declare_each(CLI::App& app, const std::string& name, std::vector<std::string>& to,
                         const std::string& type, const std::string& help) {
  app.add_option(name, to, help)->type_name(type)->take_all()->allow_extra_args(false);
}

// --set KEY=VALUE, for keys of a job.
inline void declare_set(CLI::App& app, std::vector<std::string>& to, const std::string& help) {
  declare_each(app, "--set", to, "KEY=VALUE", help);
}

// --format, one of `all`; the default is what `to` holds.
inline void declare_format(CLI::App& app, std::string& to, const std::string& help,
                           const std::vector<std::string>& all) {
  app.add_option("--format", to, help)->check(CLI::IsMember(all))->capture_default_str();
}

// --format of a page that is read on a terminal and kept in files.
inline void declare_page_format(CLI::App& app, std::string& to) {
  app.add_option("--format", to,
                 "text (the default on a terminal), md (the default elsewhere) or json")
      ->check(CLI::IsMember({"text", "md", "json"}));
}

}  // namespace lockmark::cli
