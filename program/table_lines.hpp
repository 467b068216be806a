// The rows of a comparison table, and how each is measured: by the options of the command.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/agents.hpp"
#include "program/catalogue.hpp"
#include "program/short_options.hpp"
#include "program/watching.hpp"

namespace lockmark::cli {

struct table_options {
  bool quick = false;
  bool full = false;
  std::uint64_t repeats = 0;            // 0: as the depth has it
  std::vector<std::string> locks;       // empty: the usual ones, or with --full all
  std::vector<std::string> topologies;  // empty: those of the chosen depth
  std::vector<std::string> scenarios;   // empty: those of the chosen depth
  short_options load;
  std::vector<std::string> set;
  std::vector<std::string> targets;  // of --on
  std::string targets_file;
  std::string format = "text";
  std::string out = "runs";
  std::string language = "en";
  std::string order;
  std::string junit;
  std::string resume;
  bool again = false;  // with `resume`: also the runs that the hypervisor disturbed
  bool quiet = false;
  bool wide = false;
  watching watched;
  agent_options agents;

  std::uint64_t runs_a_row() const { return repeats > 0 ? repeats : full ? 3 : 5; }
};

struct named_target {
  std::string name;  // the topology shown in the table
  std::string target;

  bool is_local() const { return target.starts_with("local:"); }
};

struct table_line {
  const lock_kind* lock = nullptr;
  std::string scenario;
  std::string option;  // "indexed=false", if it differs from its preset; or empty
  // Of what the lock did in this scenario, a closed loop: random arrivals ask for as much. 0: the
  // scenario as it is.
  double load = 0;

  // "uncontended_60"; "holder_killed" of faults/holder_killed
  std::string title() const;
};

// Throws usage_error if there are none, or a target cannot be read.
std::vector<named_target> read_targets(const table_options& g);
std::vector<std::string> scenarios_of(const table_options& g);

// Those of locks that run on targets of this form. A row that needs another row's figures is
// behind it.
std::vector<table_line> lines_on(const catalogue& known, const table_options& g,
                                 std::string_view form);

// Those of one of `targets`. How long a dead client keeps the others waiting is asked on the first
// topology of this machine that a lock runs on: more servers change nothing about it.
std::vector<table_line> lines_of(const catalogue& known, const table_options& g,
                                 std::span<const named_target> targets, const named_target& target,
                                 std::string_view form);

// Its settings beside the lock's. `per_s`: what the lock did in the row's scenario; only for a row
// with a load.
std::vector<std::string> settings_of(const table_options& g, const table_line& l,
                                     std::string_view form, double per_s);

}  // namespace lockmark::cli
