// completion and man: the command line described for shells and for people.
#include <fmt/core.h>

#include <memory>

#include "program/commands.hpp"
#include "program/completion.hpp"

namespace lockmark::cli {

command_action completion_command(CLI::App& app, const context& c) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  return [&app, &known = c.known, shell] {
    fmt::print("{}", completion_script(*shell, describe(*app.get_parent(), known)));
    return 0;
  };
}

command_action man_command(CLI::App& app, const context& c) {
  return [&app, &known = c.known] {
    fmt::print("{}", man_page(describe(*app.get_parent(), known)));
    return 0;
  };
}

}  // namespace lockmark::cli
