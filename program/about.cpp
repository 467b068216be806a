#include "program/about.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/run/build_info.hpp"

namespace lockmark::cli {
namespace {

constexpr library all[] = {
#include "lockmark_libraries.inc"  // made when CMake is configured
};

}  // namespace

std::span<const library> libraries() {
  return all;
}

std::string about() {
  const run::build_info build = run::this_build();
  std::string text = fmt::format(
      "lockmark {}\n"
      "revision  {}{}\n"
      "compiler  {}, {}{}{}\n"
      "licence   Apache-2.0\n\n",
      build.version, build.git_revision, build.git_dirty ? ", with changes" : "", build.compiler,
      build.build_type, build.sanitizers.empty() ? "" : ", sanitizers: ", build.sanitizers);
  std::size_t name = 0, version = 0;
  for (const library& each : all) {
    name = std::max(name, std::string_view(each.name).size());
    version = std::max(version, std::string_view(each.version).size());
  }
  const auto row = [&](const library& each) {
    text += fmt::format("{:{}}  {:{}}  {:11}  {}\n", each.name, name, each.version, version,
                        each.linked, each.licence);
  };
  row({"library", "version", "linked", "licence"});
  for (const library& each : all) row(each);
  text.pop_back();
  return text;
}

}  // namespace lockmark::cli
