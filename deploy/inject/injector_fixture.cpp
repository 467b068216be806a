#include "deploy/inject/injector_fixture.hpp"

#include <fmt/format.h>

#include "deploy/local/shell.hpp"
#include "harness/base/errors.hpp"

namespace lockmark::inject {

using namespace std::chrono_literals;

fault_plan plan_of(std::map<std::string, std::string> keys) {
  std::map<std::string, std::string> numbered;
  for (auto& [key, text] : keys) numbered[fmt::format("1.{}", key)] = text;
  return faults::read_faults(numbered).at(0);
}

std::string redis(int port, const std::string& words, duration limit) {
  const auto said = local::run_shell(fmt::format("redis-cli -p {} {} 2>&1", port, words), limit);
  return said.in_time && said.status == 0 ? said.output : "";
}

std::string zookeeper(int port, const std::string& letters, duration limit) {
  const auto said = local::run_shell(
      fmt::format("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{} && printf {} >&3 && cat <&3' 2>/dev/null",
                  port, letters),
      limit);
  return said.in_time ? said.output : "";
}

std::string suffering::refusal_of(const fault_plan& plan) const {
  try {
    injector_->check(plan);
  } catch (const usage_error& e) {
    return e.what();
  }
  return "";
}

local::options suffering::options_for(const std::vector<fault_plan>& plans) {
  const fault_needs needs = needs_of(plans);
  local::options with;
  with.keeps_data = needs.kept_data;
  if (needs.clock_shim) with.clock_shim = clock_shim_path();
  if (needs.partition || needs.links) put_between(between_, with);
  return with;
}

}  // namespace lockmark::inject
