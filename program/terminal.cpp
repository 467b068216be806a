#include "program/terminal.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace lockmark::cli {
namespace {

constexpr std::size_t narrowest = 20;
constexpr std::size_t without_terminal = 200;

}  // namespace

screen screen_for(bool terminal, const char* term, const char* no_color) {
  const std::string_view kind = term == nullptr ? "" : term;
  const bool able = terminal && !kind.empty() && kind != "dumb";
  const bool forbidden = no_color != nullptr && *no_color != '\0';
  return {able, able && !forbidden};
}

screen screen_of(std::FILE* stream) {
  return screen_for(isatty(fileno(stream)) == 1, std::getenv("TERM"), std::getenv("NO_COLOR"));
}

report::style style_of(const screen& s) {
  if (!s.colours) return {};
  return {"\033[32m", "\033[33m", "\033[31m", "\033[0m"};
}

void print_result(std::string_view text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

std::string page_format(const std::string& asked) {
  if (!asked.empty()) return asked;
  return isatty(STDOUT_FILENO) == 1 ? "text" : "md";
}

std::size_t width_of(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return without_terminal;
  return std::max<std::size_t>(size.ws_col, narrowest);
}

}  // namespace lockmark::cli
