#include "deploy/inject/fault_needs.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "harness/base/errors.hpp"
#include "harness/base/process.hpp"

namespace lockmark::inject {
namespace {

using faults::fault_plan;

std::string shim_path(std::string_view file, std::string_view who_needs) {
  if (const auto found = find_helper(file)) return found->string();
  const auto places = helper_places(std::filesystem::read_symlink("/proc/self/exe"), file);
  throw usage_error("faults: {} needs {}, which is neither beside lockmark nor in {}", who_needs,
                    file, places.back().parent_path().string());
}

bool parts_servers(const fault_plan& plan) {
  return plan.what->of_links() && plan.who != "replication" && !faults::hits_participants(plan);
}

}  // namespace

bool uses_proxies(const fault_plan& plan) {
  const bool of_clients = plan.who != "replication" && !faults::hits_one_link(plan);
  return !plan.on.empty() || (plan.what->of_links() && of_clients);
}

fault_needs needs_of(const std::vector<fault_plan>& plans) {
  fault_needs needs;
  for (const fault_plan& plan : plans) {
    const bool servers = plan.what->has_target() && !faults::hits_participants(plan);
    needs.own_servers = needs.own_servers || (servers && !uses_proxies(plan));
    plan.what->add_needs(plan, needs);
    needs.proxies = needs.proxies || uses_proxies(plan);
    needs.partition = needs.partition || parts_servers(plan);
    needs.links = needs.links || faults::hits_one_link(plan);
  }
  return needs;
}

fault_needs needs_of(const config::job& job) {
  fault_needs needs = needs_of(faults::read_faults(job.faults));
  if (job.rtt > duration{}) needs.own_servers = needs.proxies = true;
  return needs;
}

std::uint32_t participant_in(const std::string& who) {
  return static_cast<std::uint32_t>(std::stoul(who.substr(who.find(' ') + 1))) - 1;
}

std::string clock_shim_path() {
  return shim_path("liblockmark_clock.so", "do: jump_clock");
}

std::string link_shim_path() {
  return shim_path("liblockmark_links.so", "what parts servers from each other");
}

}  // namespace lockmark::inject
