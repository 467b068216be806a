// A run as Prometheus sees it: the metrics of dashboards/METRICS.md, as values. Knows no socket and
// is stateless, so the metrics of a run never depend on the run before it.
//
// Every series exists from the beginning, at 0. Label values that only a run can determine (its
// server's commands and its kinds of faults) appear as soon as they are known.
#pragma once

#include <prometheus/metric_family.h>

#include <array>
#include <cstdint>
#include <vector>

#include "harness/run/live.hpp"

namespace lockmark::metrics {

using families = std::vector<prometheus::MetricFamily>;

// Upper bounds of the histograms' buckets; the bucket above the last one is +Inf.
inline constexpr std::array<std::int64_t, 25> bucket_bounds_ns = {
    50'000,        100'000,        200'000,        300'000,        500'000,
    1'000'000,     2'000'000,      3'000'000,      5'000'000,      10'000'000,
    20'000'000,    30'000'000,     50'000'000,     100'000'000,    200'000'000,
    300'000'000,   500'000'000,    1'000'000'000,  2'000'000'000,  3'000'000'000,
    5'000'000'000, 10'000'000'000, 20'000'000'000, 30'000'000'000, 60'000'000'000};

// The number of server commands with their own series.
inline constexpr std::size_t most_commands = 20;

// Identifies this build: the only metrics without a run.
families of_build();

// A run without counts yet. Its window has begun if `known` says when.
families of_known(const run::result& known);

// A run in progress; `now_ns` uses the clock of the stamps in `v.known`.
families of_view(const run::live_view& v, std::int64_t now_ns);

// A finished run. Agrees with run.json.
families of_result(const run::result& r);

}  // namespace lockmark::metrics
