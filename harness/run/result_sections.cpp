// Where a run's figures come from: the build, the host, the server and the whole job.
#include <gnu/libc-version.h>

#include "harness/config/redaction.hpp"
#include "harness/run/build_info.hpp"
#include "harness/run/json_values.hpp"

namespace lockmark::run {
namespace {

json build_json() {
  const build_info b = this_build();
  const bool known = b.git_revision != "unknown";
  return {{"lockmark_version", b.version},
          {"git_revision", known ? json(b.git_revision) : json()},
          {"git_dirty", known ? json(b.git_dirty) : json()},
          {"compiler", b.compiler},
          {"build_type", text(b.build_type)},
          {"sanitizers", text(b.sanitizers)},
          {"assertions", b.assertions},
          {"libraries",
           {{"glibc", gnu_get_libc_version()},
            {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                                FMT_VERSION % 100)}}}};
}

}  // namespace

json provenance_section(const result& r) {
  json server;
  for (const auto& [name, value] : r.server_is) server[name] = value;
  const config::job open = config::redacted(r.job);
  json j = build_json();
  j["host"] = {{"name", text(r.host.host_name)},
               {"kernel", text(r.host.kernel)},
               {"cpu_model", text(r.host.cpu_model)},
               {"cores", r.host.cores > 0 ? json(r.host.cores) : json()},
               {"clock_source", text(r.host.clock_source)},
               {"load_average_before", r.host.cores > 0 ? number(r.host.load_average) : json()}};
  j["server"] = std::move(server);
  j["preflight"] = r.preflight;
  j["lock_options"] = open.options;
  j["job"] = config::print_job(open);
  return j;
}

}  // namespace lockmark::run
