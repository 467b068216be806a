#include "harness/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace lockmark::cli {
namespace {

constexpr std::size_t narrowest = 20;
constexpr std::size_t without_terminal = 200;

}  // namespace

bool is_terminal(std::FILE* stream) {
  return isatty(fileno(stream)) == 1;
}

std::size_t width_of(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return without_terminal;
  return std::max<std::size_t>(size.ws_col, narrowest);
}

}  // namespace lockmark::cli
