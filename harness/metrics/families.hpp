// A run as Prometheus sees it: the metrics of dashboards/METRICS.md, as values. Knows no socket and
// keeps nothing, so what a run shows never depends on the one before it.
//
// Every series is there from the beginning, at 0. The label values that only a run can tell, its
// server's commands and its kinds of faults, come as soon as they are known.
#pragma once

#include <prometheus/metric_family.h>

#include <array>
#include <cstdint>
#include <vector>

#include "harness/run/live.hpp"

namespace lockmark::metrics {

using families = std::vector<prometheus::MetricFamily>;

// Upper bounds of the histograms' buckets; above the last one there is +Inf.
inline constexpr std::array<std::int64_t, 25> bucket_bounds_ns = {
    50'000,        100'000,        200'000,        300'000,        500'000,
    1'000'000,     2'000'000,      3'000'000,      5'000'000,      10'000'000,
    20'000'000,    30'000'000,     50'000'000,     100'000'000,    200'000'000,
    300'000'000,   500'000'000,    1'000'000'000,  2'000'000'000,  3'000'000'000,
    5'000'000'000, 10'000'000'000, 20'000'000'000, 30'000'000'000, 60'000'000'000};

// Of the server's commands so many have a series of their own.
inline constexpr std::size_t most_commands = 20;

// Which build this is: all that there is without a run.
families of_build();

// A run that counts nothing yet. Its window has begun if `known` says when.
families of_known(const run::result& known);

// A run as it goes on; `now_ns` as the stamps of `v.known`.
families of_view(const run::live_view& v, std::int64_t now_ns);

// A run that is over. Agrees with run.json.
families of_result(const run::result& r);

}  // namespace lockmark::metrics
