// For tests: rows of every kind that the table must distinguish.
#pragma once

#include <vector>

#include "harness/report/row.hpp"

namespace lockmark::report {

inline row measured_row() {
  row r;
  r.run = "first";
  r.lock = "redis/lua";
  r.topology = "redis";
  r.implementation = "two scripts";
  r.scenario = "contended";
  r["success_rate"] = {0.9998};
  r["tps"] = {1234.4};
  r["samples"] = {20'000};
  r["p50"] = {1'200'000};
  r["p90"] = {3'456'000};
  r["p99"] = {12'340'000};
  r["max"] = {1'000'000'000, true};
  r["handoff_p50"] = {853'000};
  r["fairness"] = {0.876};
  r["worst_success"] = {0.94};
  r["worst_p99"] = {1'000'000'000, true};
  r["commands"] = {2};
  r["server_commands"] = {3};
  r.safety_class = "best-effort";
  r.durability = "each change";
  r["violations"] = {0};
  r.complete = r.valid = true;
  return r;
}

inline row bound_row() {
  row r = measured_row();
  r.run = "second";
  r.lock = "zookeeper/sequential";
  r.bound = true;
  r["p99"] = {1'000'000'000, true};
  r["handoff_p50"] = {};
  r["fairness"] = {};
  r.reasons = {message("busy_worker", {"97", "80"})};
  return r;
}

inline row invalid_row() {
  row r = measured_row();
  r.run = "third";
  r.lock = "mysql/for_update";
  r["tps"] = {99'999};
  r.valid = false;
  r["violations"] = {3};
  r.reasons = {"debug build"};
  return r;
}

inline row killed_row() {
  row r;
  r.run = "fourth";
  r.lock = "redis/setnx";
  r["samples"] = {0};
  r.topology = "redis";
  r.scenario = "contended";
  r.safety_class = "none";
  r.reasons = {"incomplete: the run has not ended yet, or was killed", "debug build"};
  return r;
}

inline std::vector<row> all_kinds() {
  return {measured_row(), bound_row(), invalid_row(), killed_row()};
}

}  // namespace lockmark::report
