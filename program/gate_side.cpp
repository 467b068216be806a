#include "program/gate_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/errors.hpp"
#include "harness/config/redaction.hpp"
#include "harness/config/settings.hpp"
#include "harness/config/target.hpp"

namespace lockmark::cli {
namespace {

constexpr std::string_view password_variable = "LOCKMARK_GATE_PASSWORD";

// An executable file as an absolute path, which is valid in any folder.
std::string program_at(const std::string& name, const std::string& path) {
  std::error_code failed;
  const auto file = std::filesystem::canonical(path, failed);
  const auto all = std::filesystem::perms::owner_exec | std::filesystem::perms::group_exec |
                   std::filesystem::perms::others_exec;
  const bool runs =
      !failed && std::filesystem::is_regular_file(file) &&
      (std::filesystem::status(file).permissions() & all) != std::filesystem::perms::none;
  if (!runs) {
    throw usage_error("--{}: with={} is no program; expected the path of a lockmark", name, path);
  }
  return file.string();
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = '\0';
  int depth = 0;
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      begun = true;
    } else if (c == ' ' && depth == 0) {
      if (begun) words.push_back(std::move(word));
      word.clear();
      begun = false;
    } else {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      word += c;
      begun = true;
    }
  }
  if (begun) words.push_back(std::move(word));
  return words;
}

gate_side read_side(gate_side common, const std::string& name,
                    const std::vector<std::string>& given) {
  gate_side side = std::move(common);
  side.name = name;
  for (const std::string& text : given) {
    for (const std::string& word : words_of(text)) {
      const auto equals = word.find('=');
      if (equals == std::string::npos || equals == 0) {
        // It may be a target without its "on=", and so contain a password.
        throw usage_error(
            "--{}: expected on=TARGET, with=LOCKMARK, or a KEY=VALUE of the job "
            "(lock=redis/lua), not {}",
            name, config::in_quotes(config::redacted_argument(word)));
      }
      const std::string key = word.substr(0, equals);
      if (key == "on") {
        side.target = word.substr(equals + 1);
        continue;
      }
      if (key == "with") {
        side.program = program_at(name, word.substr(equals + 1));
      } else if (const auto wrong = config::key_problem(key)) {
        throw usage_error("--{}: {}", name, wrong->sentence);
      } else {
        side.set.push_back(word);
      }
      const std::string shown = config::redacted_argument(word);
      const char* quote = shown.find(' ') == shown.npos ? "" : "'";
      side.own += fmt::format("{0}{1}{2}{1}", side.own.empty() ? "" : " ", quote, shown);
    }
  }
  return side;
}

std::string side_text(const gate_side& side, const named_job& job, const resolved_target& where) {
  const std::string lock = job.job.lock.empty() ? "usual lock" : job.job.lock;
  std::string rest;
  for (const std::string& word : words_of(side.own)) {
    if (!word.starts_with("lock=")) rest += fmt::format(", {}", word);
  }
  return fmt::format("{} on {}{}", lock, where.redacted, rest);
}

open_url without_password(const std::string& url, bool to_this_lockmark) {
  if (url.starts_with("exec:") && to_this_lockmark) {
    return {"", fmt::format("LOCKMARK_TARGET={}", url)};
  }
  const auto target = config::parse_target(url);
  const auto scheme = url.find("://");
  if (!target || scheme == std::string::npos) return {url, ""};
  const auto begin = scheme + 3;
  const auto end = std::min(url.find_first_of("/?", begin), url.size());
  const auto at = url.substr(0, end).rfind('@');
  const auto colon = url.find(':', begin);
  if (at == std::string::npos || at < begin || colon > at) return {url, ""};
  const std::string user = url.substr(begin, colon - begin);
  const std::string rest = url.substr(at + 1);
  return {
      fmt::format("{}{}{}{}{}password-env={}", url.substr(0, begin), user, user.empty() ? "" : "@",
                  rest, rest.find('?') == rest.npos ? "?" : "&", password_variable),
      fmt::format("{}={}", password_variable, target->password)};
}

}  // namespace lockmark::cli
