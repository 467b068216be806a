// lockmark help: of a command (see main.cpp, as --help), or of a concept.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "harness/base/errors.hpp"
#include "harness/config/option.hpp"
#include "program/commands.hpp"
#include "program/terminal.hpp"
#include "program/topics.hpp"

namespace lockmark::cli {

command_action help_command(CLI::App& app, const context&) {
  const auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("topic", *words, "a command, or a concept: closed-loop, hand-off, ...")
      ->type_name("TOPIC");
  std::string footer = "Concepts:\n";
  for (const topic& t : topics()) footer += fmt::format("  {:<12} {}\n", t.name, t.title);
  app.footer(footer + "Exit status: 0; 2 there is no such topic.");
  return [words, &app] {
    const std::string name = fmt::format("{}", fmt::join(*words, " "));
    if (const topic* const found = find_topic(name)) {
      print_result(topic_text(*found, std::min<std::size_t>(width_of(stdout), 80)));
      return 0;
    }
    std::vector<std::string> known;
    for (const topic& t : topics()) known.emplace_back(t.name);
    for (const CLI::App* sub : app.get_parent()->get_subcommands(nullptr)) {
      known.push_back(sub->get_name());
    }
    throw usage_error(
        "no command and no topic is called '{}'; did you mean {}? See lockmark help "
        "--help",
        name, config::nearest_name(name, known));
  };
}

}  // namespace lockmark::cli
