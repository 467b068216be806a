// The allowed directions of includes: harness/DESIGN.md section 3 as a table.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "harness/tidy/rules.hpp"
#include "harness/tidy/text.hpp"

namespace lockmark::tidy {
namespace {

using names = std::vector<std::string_view>;

// Files under `in`, but not under `except`, may not include paths that start with one of
// `forbidden`, unless they start with one of `allowed` (or, in a test, with one of
// `allowed_in_tests`).
struct direction {
  names in;
  names except;
  names forbidden;
  names allowed;
  names allowed_in_tests;
  std::string_view instead;
};

// Between the top-level folders.
const std::vector<direction>& directions() {
  static const std::vector<direction> table = {
      {.in = {"harness/"},
       .except = {},
       .forbidden = {"drivers/", "workloads/", "deploy/", "program/"},
       .allowed = {},
       .allowed_in_tests = {"drivers/memory/", "drivers/faulty/", "drivers/combined.hpp",
                            "workloads/"},
       .instead = "the harness knows no backend and no workload: go through harness/driver.hpp or "
                  "harness/workload.hpp; only the program names them"},
      {.in = {"harness/time/", "harness/pace/", "harness/stats/", "harness/check/",
              "harness/config/"},
       .except = {},
       .forbidden = {"harness/async/", "harness/run/", "harness/driver.hpp", "harness/workload.hpp",
                     "asio"},
       .allowed = {},
       .allowed_in_tests = {},
       .instead = "this part runs without an event loop: take values, and leave waiting to "
                  "harness/run"},
      {.in = {"workloads/"},
       .except = {},
       .forbidden = {"harness/", "drivers/", "deploy/", "program/"},
       .allowed = {"harness/workload.hpp", "harness/driver.hpp", "harness/features.hpp",
                   "harness/outcome.hpp", "harness/async/", "harness/base/"},
       .allowed_in_tests = {"drivers/memory/", "drivers/faulty/"},
       .instead =
           "a workload sees the contracts only: harness/workload.hpp and harness/driver.hpp"},
      {.in = {"drivers/"},
       .except = {"drivers/conformance/"},
       .forbidden = {"harness/", "workloads/", "deploy/", "program/"},
       .allowed = {"harness/driver.hpp", "harness/features.hpp", "harness/outcome.hpp",
                   "harness/async/", "harness/base/", "harness/config/target.hpp",
                   "harness/config/scheme.hpp", "harness/unique_fd.hpp"},
       .allowed_in_tests = {"deploy/local/", "harness/time/"},
       .instead = "a driver sees its contract only: harness/driver.hpp, harness/async/ and "
                  "harness/config/target.hpp; it neither measures nor reads a clock"},
      {.in = {"drivers/conformance/"},
       .except = {},
       .forbidden = {"harness/", "workloads/", "deploy/", "drivers/", "program/"},
       .allowed = {"harness/driver.hpp", "harness/features.hpp", "harness/outcome.hpp",
                   "harness/async/", "harness/config/target.hpp", "harness/faults/proxy/",
                   "harness/unique_fd.hpp", "drivers/conformance/"},
       .allowed_in_tests = {"drivers/memory/"},
       .instead = "the suite is for every driver and knows none: go through harness/driver.hpp"},
      {.in = {"deploy/"},
       .except = {"deploy/inject/"},
       .forbidden = {"harness/", "drivers/", "workloads/", "program/", "deploy/inject/"},
       .allowed = {"harness/base/", "harness/templates/", "harness/time/", "harness/unique_fd.hpp"},
       .allowed_in_tests = {},
       .instead = "deploy starts servers and knows nothing of locks: harness/base, templates and "
                  "time are all it uses"},
      {.in = {"deploy/inject/"},
       .except = {},
       .forbidden = {"harness/", "drivers/", "workloads/", "program/"},
       .allowed = {"harness/async/", "harness/base/", "harness/config/", "harness/driver.hpp",
                   "harness/faults/"},
       .allowed_in_tests = {},
       .instead = "it brings faults upon servers: it sees those and what harness/faults asks for, "
                  "and no lock"},
  };
  return table;
}

// The same for the base, for client libraries, and for observers of a run.
const std::vector<direction>& directions_at_the_edges() {
  static const std::vector<direction> table = {
      {.in = {"harness/base/"},
       .except = {},
       .forbidden = {"harness/", "asio"},
       .allowed = {"harness/base/"},
       .allowed_in_tests = {},
       .instead = "everybody uses harness/base, so it uses nobody"},
      {.in = {"harness/", "drivers/", "workloads/", "deploy/"},
       .except = {"harness/metrics/"},
       .forbidden = {"harness/metrics/", "prometheus/", "curl/"},
       .allowed = {},
       .allowed_in_tests = {},
       .instead = "nothing that runs knows who watches it: the program gives harness/metrics what "
                  "setup::on_live brings"},
      {.in = {"harness/", "drivers/", "workloads/", "deploy/"},
       .except = {"harness/agents/"},
       .forbidden = {"harness/agents/", "grpc"},
       .allowed = {},
       .allowed_in_tests = {},
       .instead = "a run does not know where its workers are: the program gives it a worker pool"},
      {.in = {"harness/metrics/"},
       .except = {},
       .forbidden = {"harness/async/", "harness/report/", "asio"},
       .allowed = {"harness/report/figures.hpp"},
       .allowed_in_tests = {},
       .instead =
           "metrics show what harness/run has measured, and its figures, and do nothing else"},
  };
  return table;
}

bool starts_with_any(std::string_view text, const names& beginnings) {
  return std::ranges::any_of(beginnings, [&](auto b) { return text.starts_with(b); });
}

// The odd adapter is a lock client that tests start: it is no driver, although it is beside one.
bool is_test(std::string_view path) {
  return path.ends_with("_test.cpp") || path.ends_with("_bench.cpp") ||
         path.ends_with("_fuzz.cpp") || path == "drivers/exec/odd_adapter.cpp";
}

bool forbids(const direction& d, std::string_view path, std::string_view included) {
  return starts_with_any(path, d.in) && !starts_with_any(path, d.except) &&
         starts_with_any(included, d.forbidden) && !starts_with_any(included, d.allowed) &&
         !(is_test(path) && starts_with_any(included, d.allowed_in_tests));
}

// "drivers/redis/" of "drivers/redis/lua.cpp"; empty outside of drivers/.
std::string_view driver_of(std::string_view path) {
  constexpr std::string_view drivers = "drivers/";
  if (!path.starts_with(drivers)) return {};
  const auto end = path.find('/', drivers.size());
  return end == std::string_view::npos ? std::string_view{} : path.substr(0, end + 1);
}

// No driver uses another. Exceptions: the faulty one wraps the memory one, tests use the suite, and
// the interoperability test of our locks with the real clients uses both.
bool is_other_driver(std::string_view path, std::string_view included) {
  const auto mine = driver_of(path);
  const auto other = driver_of(included);
  if (mine.empty() || other.empty() || mine == other) return false;
  if (mine == "drivers/conformance/") return false;  // has its own row above
  if (other == "drivers/conformance/") return !is_test(path);
  if (path == "drivers/exec/interop_test.cpp") return false;
  return !(mine == "drivers/faulty/" && other == "drivers/memory/");
}

}  // namespace

std::string_view included_by(std::string_view line) {
  constexpr std::string_view include = "#include ";
  if (!line.starts_with(include)) return {};
  line.remove_prefix(include.size());
  const auto end = line.find_first_of("\">", 1);
  return end == std::string_view::npos ? std::string_view{} : line.substr(1, end - 1);
}

std::vector<violation> check_includes(std::string_view path, std::string_view text) {
  std::vector<violation> found;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::string_view included = included_by(line);
    if (included.empty()) continue;
    const auto report = [&](std::string_view instead) {
      found.push_back({std::string{path}, number,
                       "includes " + std::string{included} + "; " + std::string{instead}});
    };
    for (const auto* table : {&directions(), &directions_at_the_edges()}) {
      for (const direction& d : *table) {
        if (forbids(d, path, included)) report(d.instead);
      }
    }
    if (is_other_driver(path, included)) {
      report(
          "one driver never uses another: put what both need behind harness/driver.hpp, and "
          "the suite into tests only");
    }
  }
  return found;
}

std::vector<violation> check_libraries(std::string_view path, std::string_view text,
                                       std::span<const client_library> libraries) {
  std::vector<violation> found;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::string_view included = included_by(line);
    for (const client_library& library : libraries) {
      if (!included.starts_with(library.headers) || path.starts_with(library.folder)) continue;
      found.push_back({std::string{path}, number,
                       fmt::format("includes {}; a client library stays inside its driver: use "
                                   "what {} offers",
                                   included, library.folder)});
    }
  }
  return found;
}

}  // namespace lockmark::tidy
