// For fish 3.
#include <fmt/format.h>

#include "program/completion.hpp"

namespace lockmark::cli {
namespace {

// In single quotes fish knows two escapes.
std::string fish_quoted(std::string_view text) {
  std::string all = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') all += '\\';
    all += c == '\n' ? ' ' : c;
  }
  return all + "'";
}

std::vector<std::string> settings_of(const command_line& c) {
  std::vector<std::string> all;
  for (const described_key& k : c.keys) {
    all.push_back(fmt::format("{}=", k.name));
    for (const std::string& value : k.values) all.push_back(fmt::format("{}={}", k.name, value));
  }
  return all;
}

// The options of fish's `complete` for a value.
std::string values(const command_line& c, const described_option& o) {
  if (!o.allowed.empty())
    return fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(o.allowed, " "))));
  if (is_folder(o.value)) return " -x -a '(__fish_complete_directories)'";
  if (o.value == "FILE") return " -r -F";
  if (o.value == "KEY=VALUE") {
    return fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(settings_of(c), " "))));
  }
  const auto known = c.words.find(o.value);
  if (known == c.words.end()) return " -x";
  const std::string words = fish_quoted(fmt::format("{}", fmt::join(known->second, " ")));
  return fmt::format(" {} -a {}", o.value == "JOB" ? "-r -F" : "-x", words);
}

std::string option_line(const command_line& c, const described_option& o,
                        const std::string& condition) {
  std::string text = fmt::format("complete -c {} -n {}", c.name, fish_quoted(condition));
  for (const std::string& name : o.names) {
    const bool long_name = name.starts_with("--");
    text += fmt::format(" {} {}", long_name ? "-l" : "-s", name.substr(long_name ? 2 : 1));
  }
  if (o.names.empty()) {
    // A positional argument: -r and -x are about values of options.
    const std::string all = values(c, o);
    const bool files = all.find(" -F") != all.npos;
    const auto words = all.find(" -a ");
    text += files ? " -F" : " -f";
    if (words != all.npos) text += all.substr(words);
    return fmt::format("{}\n", text);
  }
  if (!o.value.empty()) text += values(c, o);
  return fmt::format("{} -d {}\n", text, fish_quoted(o.help));
}

}  // namespace

std::string fish_completion(const command_line& c) {
  std::string text = fmt::format(
      "# Completion for fish; `{0} completion fish` has made it.\n"
      "complete -c {0} -f\n",
      c.name);
  for (const described_option& o : c.options) text += option_line(c, o, "__fish_use_subcommand");
  for (const described_command& command : c.commands) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", c.name,
                        command.name, fish_quoted(command.help));
  }
  for (const described_command& command : c.commands) {
    const std::string here = fmt::format("__fish_seen_subcommand_from {}", command.name);
    for (const described_option& o : command.options) text += option_line(c, o, here);
  }
  return text;
}

}  // namespace lockmark::cli
