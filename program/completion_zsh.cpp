// For zsh 5, with its completion system (compinit) on.
#include <fmt/format.h>

#include "program/completion.hpp"

namespace lockmark::cli {
namespace {

// For a description or a message of _arguments and _describe.
std::string without_markup(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

std::string zsh_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += fmt::format(" {}", shell_quoted(w));
  return text;
}

// "LOCK" is completed by the function _lockmark_lock.
std::string function_of(const std::string& program, std::string_view value) {
  std::string name = fmt::format("_{}_", program);
  for (const char c : value) {
    name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '=' ? '_' : c;
  }
  return name;
}

std::string word_functions(const command_line& c) {
  std::string text;
  for (const auto& [value, words] : c.words) {
    const std::string name = function_of(c.name, value);
    const char* const files = value == "JOB" ? "  _files -g '*.yaml'\n" : "";
    text += fmt::format("\n{}() {{\n  compadd \"$@\" -{}\n{}}}\n", name, zsh_words(words), files);
  }
  return text;
}

std::string zsh_settings(const command_line& c) {
  std::vector<std::string> keys;
  std::string text =
      fmt::format("\n{}() {{\n  case $PREFIX in\n", function_of(c.name, "KEY=VALUE"));
  for (const described_key& k : c.keys) {
    keys.push_back(fmt::format("{}=", k.name));
    if (k.values.empty()) continue;
    text += fmt::format("    {}=*) compset -P '*='; compadd -{} ;;\n", k.name, zsh_words(k.values));
  }
  return text +
         fmt::format("    *=*) ;;\n    *) compadd -S '' -{} ;;\n  esac\n}}\n", zsh_words(keys));
}

// The action of _arguments for a value.
std::string action(const command_line& c, const described_option& o) {
  if (!o.allowed.empty()) return fmt::format("({})", fmt::join(o.allowed, " "));
  if (is_folder(o.value)) return "_files -/";
  if (o.value == "FILE") return "_files";
  if (o.value != "KEY=VALUE" && !c.words.contains(o.value)) return " ";
  const std::string function = function_of(c.name, o.value);
  return o.delimiter == ',' ? fmt::format("_sequence -s , {}", function) : function;
}

std::string specs(const command_line& c, const std::vector<described_option>& options) {
  std::string text;
  for (const described_option& o : options) {
    const std::string value =
        o.value.empty() ? "" : fmt::format(":{}:{}", without_markup(o.value), action(c, o));
    if (o.names.empty()) {
      text += fmt::format(" \\\n        {}",
                          shell_quoted(fmt::format("{}{}", o.repeats ? "*" : "1", value)));
    }
    for (const std::string& name : o.names) {
      const bool long_name = name.starts_with("--");
      const char* const joint = o.value.empty() ? "" : long_name ? "=" : "+";
      text += fmt::format(" \\\n        {}",
                          shell_quoted(fmt::format("{}{}{}[{}]{}", o.repeats ? "*" : "", name,
                                                   joint, without_markup(o.help), value)));
    }
  }
  return text;
}

}  // namespace

std::string zsh_completion(const command_line& c) {
  std::string text = fmt::format(
      "#compdef {0}\n# Completion for zsh; `{0} completion zsh` has made "
      "it.\n",
      c.name);
  text += word_functions(c);
  text += zsh_settings(c);
  text += fmt::format(
      "\n_{}() {{\n  local curcontext=$curcontext state line\n  typeset -A opt_args\n", c.name);
  text +=
      fmt::format("  _arguments -C{} \\\n        '1:command:->command' '*::argument:->argument'\n",
                  specs(c, c.options));
  text += "  case $state in\n    command)\n      local -a commands=(";
  for (const described_command& command : c.commands) {
    text +=
        fmt::format("\n        {}",
                    shell_quoted(fmt::format("{}:{}", command.name, without_markup(command.help))));
  }
  text += "\n      )\n      _describe command commands\n      ;;\n    argument)\n";
  text += "      case $line[1] in\n";
  for (const described_command& command : c.commands) {
    text += fmt::format("        {}) _arguments{} ;;\n", command.name, specs(c, command.options));
  }
  text += "      esac\n      ;;\n  esac\n}\n";
  return text + fmt::format(
                    "\n# In a file of $fpath, or sourced.\nif [[ $funcstack[1] == _{0} ]]; then\n  "
                    "_{0} \"$@\"\nelse\n  compdef _{0} {0}\nfi\n",
                    c.name);
}

}  // namespace lockmark::cli
