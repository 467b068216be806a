// completion and man: the command line described for shells and for people.
#include <fmt/core.h>

#include <memory>

#include "harness/run/build_info.hpp"
#include "program/commands.hpp"
#include "program/completion.hpp"

namespace lockmark::cli {

command_action completion_command(CLI::App& app, const context& c) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  return [&app, &known = c.known, shell] {
    const command_line all = describe(*app.get_parent(), known);
    fmt::print("{}", *shell == "bash"  ? bash_completion(all)
                     : *shell == "zsh" ? zsh_completion(all)
                                       : fish_completion(all));
    return 0;
  };
}

command_action man_command(CLI::App& app, const context& c) {
  return [&app, &known = c.known] {
    const command_line all = describe(*app.get_parent(), known);
    fmt::print("{}", man_page(all, known, run::this_build().version));
    return 0;
  };
}

}  // namespace lockmark::cli
