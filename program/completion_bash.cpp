// For bash 4.3 and later, with or without the package bash-completion.
#include <fmt/format.h>

#include "program/completion.hpp"

namespace lockmark::cli {
namespace {

// The fixed part of the script. bash also breaks the line at '=' and ':', so that the word to
// complete and the reply are shorter than the word that the user sees.
constexpr const char* helpers = R"--(
_@_answer() {  # CURRENT WORD...: those that go on from what is typed
  local current=$1 typed='' breaks='' word
  shift
  if [[ $COMP_WORDBREAKS == *=* ]]; then breaks='='; fi
  if [[ $COMP_WORDBREAKS == *:* ]]; then breaks+=':'; fi
  if [[ -n $breaks && $current == *[$breaks]* ]]; then typed=${current%"${current##*[$breaks]}"}; fi
  for word in "$@"; do
    if [[ $word == "$current"* ]]; then COMPREPLY+=("${word#"$typed"}"); fi
  done
}

_@_list() {  # CURRENT WORD...: the same for the last of several words with commas between
  local current=$1 before=''
  shift
  if [[ $current == *,* ]]; then before=${current%,*},; fi
  _@_answer "$current" "${@/#/$before}"
}

_@_files() {  # CURRENT ACTION...: files or folders, as compgen finds them
  local current=$1
  shift
  compopt -o filenames 2>/dev/null
  while IFS= read -r; do COMPREPLY+=("$REPLY"); done < <(compgen "$@" -- "$current")
}

_@_words() {  # sets `words` to what is typed up to the cursor, broken at blanks only
  local i word
  words=()
  if [[ -n ${COMP_LINE-} ]]; then
    read -ra words <<<"${COMP_LINE:0:${COMP_POINT:-${#COMP_LINE}}}"
    if [[ ${COMP_LINE:0:${COMP_POINT:-${#COMP_LINE}}} == *[[:blank:]] ]]; then words+=(''); fi
    return
  fi
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]-}
    if ((i > 0)) && [[ $word == [=:]* || (-n $word && $word != -* && ${words[-1]} == *[=:]) ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
}
)--";

constexpr const char* begin_of_main = R"--(
_@() {
  local current previous='' command='' words i
  COMPREPLY=()
  _@_words
  current=${words[-1]-}
  if ((${#words[@]} > 1)); then previous=${words[-2]}; fi
  if [[ $current == --*=* ]]; then
    previous=${current%%=*}
    current=${current#*=}
  fi
  for ((i = 1; i < ${#words[@]} - 1; ++i)); do
    case "${words[i]}" in
)--";

std::string bash_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", shell_quoted(w));
  }
  return text;
}

std::vector<std::string> option_names(const std::vector<described_option>& options) {
  std::vector<std::string> all;
  for (const described_option& o : options) {
    all.insert(all.end(), o.names.begin(), o.names.end());
  }
  return all;
}

// The shell command that lists the option's values; empty: they are not known.
std::string values_of(const command_line& c, const described_option& o) {
  if (!o.allowed.empty()) {
    return fmt::format("_@_answer \"$current\" {}", bash_words(o.allowed));
  }
  if (o.value == "KEY=VALUE") return "_@_setting \"$current\"";
  if (is_folder(o.value)) return "_@_files \"$current\" -d";
  std::string all;
  if (const auto known = c.words.find(o.value); known != c.words.end()) {
    const char* const how = o.delimiter == ',' ? "list" : "answer";
    all = fmt::format("_@_{} \"$current\" {}", how, bash_words(known->second));
  }
  if (o.value == "JOB") all += "; _@_files \"$current\" -f -X '!*.yaml' -o plusdirs";
  if (o.value == "FILE") all += "_@_files \"$current\" -f";
  return all;
}

std::string bash_settings(const command_line& c) {
  std::vector<std::string> keys;
  std::string text = "\n_@_setting() {  # CURRENT: KEY=VALUE of a job\n  case \"$1\" in\n";
  for (const described_key& k : c.keys) {
    keys.push_back(fmt::format("{}=", k.name));
    if (k.values.empty()) continue;
    std::vector<std::string> settings;
    for (const std::string& value : k.values)
      settings.push_back(fmt::format("{}={}", k.name, value));
    text += fmt::format("    {}=*) _@_answer \"$1\" {} ;;\n", k.name, bash_words(settings));
  }
  text += "    *=*) ;;\n    *)\n      compopt -o nospace 2>/dev/null\n";
  return text + fmt::format("      _@_answer \"$1\" {}\n      ;;\n  esac\n}}\n", bash_words(keys));
}

std::string command_case(const command_line& c, const described_command& command) {
  std::string text = fmt::format("    {})\n      case \"$previous\" in\n", command.name);
  std::string place;
  for (const described_option& o : command.options) {
    const std::string values = o.value.empty() ? "" : values_of(c, o);
    if (o.names.empty()) place = values;
    if (o.names.empty() || o.value.empty()) continue;
    text += fmt::format("        {}) {}{}return ;;\n", fmt::join(o.names, "|"), values,
                        values.empty() ? "" : "; ");
  }
  text += "      esac\n      if [[ $current == -* ]]; then\n";
  text +=
      fmt::format("        _@_answer \"$current\" {}\n", bash_words(option_names(command.options)));
  if (!place.empty()) text += fmt::format("      else\n        {}\n", place);
  return text + "      fi\n      ;;\n";
}

// Replaces "@" by the program's name.
std::string named(std::string text, const std::string& name) {
  for (auto at = text.find("_@"); at != text.npos; at = text.find("_@", at)) {
    text.replace(at + 1, 1, name);
  }
  return text;
}

}  // namespace

std::string bash_completion(const command_line& c) {
  std::vector<std::string> commands;
  for (const described_command& command : c.commands) commands.push_back(command.name);
  std::string text =
      fmt::format("# Completion for bash; `{} completion bash` has made it.\n", c.name);
  text += helpers;
  text += bash_settings(c);
  text += begin_of_main;
  text += fmt::format("      {}) command=${{words[i]}}; break ;;\n    esac\n  done\n",
                      fmt::join(commands, "|"));
  text += "  case \"$command\" in\n";
  for (const described_command& command : c.commands) text += command_case(c, command);
  std::vector<std::string> first = commands;
  for (const std::string& name : option_names(c.options)) first.push_back(name);
  text += fmt::format("    *) _@_answer \"$current\" {} ;;\n  esac\n}}\n", bash_words(first));
  text += fmt::format("\ncomplete -F _@ {}\n", c.name);
  return named(std::move(text), c.name);
}

std::string shell_quoted(std::string_view text) {
  std::string all = "'";
  for (const char c : text) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return all + "'";
}

}  // namespace lockmark::cli
