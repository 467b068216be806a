// Two sections of run.json: who was granted the lock; and where the figures come from, which is the
// build, the host, the server and the whole job.
#include <gnu/libc-version.h>

#include <algorithm>

#include "harness/config/redaction.hpp"
#include "harness/run/build_info.hpp"
#include "harness/run/json_values.hpp"

namespace lockmark::run {
namespace {

// With more clients the list would be most of the file.
constexpr std::size_t most_clients_listed = 1000;

// Of the client that was granted the smallest share of its attempts.
json worst_success(const result& r) {
  const auto& worst = r.found.clients.lowest_success;
  if (!worst) return {};
  return {{"client", worst->client},
          {"attempts", worst->attempts},
          {"granted", worst->granted},
          {"rate", static_cast<double>(worst->granted) / static_cast<double>(worst->attempts)}};
}

// Of the client whose p99 is highest.
json worst_response(const result& r) {
  const auto& worst = r.found.clients.highest_p99;
  json list = json::array();
  if (worst) {
    list.push_back({{"q", 0.99},
                    {"n", worst->attempts},
                    {"supported", worst->supported},
                    {"value_ns", worst->supported ? time_ns(worst->value) : json()}});
  }
  return {{"client", worst ? json(worst->client) : json()},
          {"quantiles", std::move(list)},
          {"why_unknown", r.found.clients.too_many_for_quantiles
                              ? json(fmt::format("more than {} clients",
                                                 stats::client_outcomes::most_with_quantiles))
                              : json()}};
}

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

json fairness_section(const result& r) {
  const stats::fairness_totals& f = r.found.fairness;
  const auto of = [](const stats::histogram& h, double q) {
    return h.empty() ? json() : json(h.value_at_quantile(q));
  };
  const auto& by_client = r.found.grants_by_client;
  json j;
  j["jain_run"] = number(f.jain_run());
  j["jain_windowed"] = number(f.jain_windowed());
  j["windows"] = f.windows();
  j["owner_change_share"] = number(f.owner_change_share());
  j["working_set_size"] = number(f.working_set_size());
  j["grants_to_reacquire_median"] = of(f.reacquire_distance(), 0.5);
  j["bypass_p99"] = of(f.bypass(), 0.99);
  j["bypass_max"] = of(f.bypass(), 1);
  j["longest_wait_ns"] = r.attempts() > 0 ? json(f.longest_wait_ns()) : json();
  j["grants_per_client_min"] =
      by_client.empty() ? json() : json(*std::min_element(by_client.begin(), by_client.end()));
  j["grants_per_client_max"] =
      by_client.empty() ? json() : json(*std::max_element(by_client.begin(), by_client.end()));
  j["grants_per_client"] =
      by_client.empty() || by_client.size() > most_clients_listed ? json() : json(by_client);
  j["worst_success"] = worst_success(r);
  j["worst_response"] = worst_response(r);
  j["starvation"] = messages_json(r.starvation());
  return j;
}

json hosts_section(const result& r) {
  json all = json::array();
  for (const load_host& h : r.hosts) {
    const auto error = [&](double q) {
      return h.clock_error.empty() ? json() : json(h.clock_error.value_at_quantile(q));
    };
    all.push_back({{"agent", h.name},
                   {"host", text(h.host)},
                   {"cores", number(h.cores)},
                   {"participants", h.participants},
                   {"clock",
                    {{"offset_ns", h.clock_offset_ns},
                     {"exchanges", h.clock_exchanges},
                     {"breaks", h.clock_breaks},
                     {"error_p50_ns", error(0.5)},
                     {"error_p99_ns", error(0.99)},
                     {"error_max_ns", error(1)}}},
                   {"late_ns", h.late_ns},
                   {"lost", h.lost}});
  }
  return all;
}

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
