// Makes the comparison table: starts the servers, measures the rows in turns, and writes what it
// has after every run.
//
// Every row is measured several times, and all rows of a round, in an order of its own, before any
// is measured again: what changes on the machine meanwhile meets them all.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/report/junit.hpp"
#include "harness/report/row.hpp"
#include "program/commands.hpp"
#include "program/execute.hpp"
#include "program/output_file.hpp"
#include "program/table_lines.hpp"

namespace lockmark::cli {

struct table_place {
  named_target what;
  resolved_target where;
};

// A row in the making.
struct table_row {
  const named_target* target = nullptr;
  table_line of;
  std::map<std::uint64_t, report::row> runs;  // by repetition
  std::vector<report::test_case> cases;       // of all of them, or of a failure
  bool failed = false;                        // it could not be measured, and is not tried again

  std::string name() const {
    return fmt::format("{}{}{} {} on {}", of.lock->name, of.option.empty() ? "" : " ", of.option,
                       of.title(), target->name);
  }
};

class table_maker {
 public:
  // `exporter` (or null) shows the rows while they are measured; `from` (or null) carries their
  // load.
  table_maker(const context& c, const table_options& g, metrics::exporter* exporter,
              agent_group* from)
      : context_(c),
        given_(g),
        exporter_(exporter),
        from_(from),
        out_(std::filesystem::path(g.out)),
        junit_("--junit", g.junit) {}

  int make();
  // Writes the error that ended the table early to the JUnit file.
  void tell_why_not(const char* why);

 private:
  std::vector<table_line> lines(const named_target& t, std::string_view form) const;
  inject::fault_needs needs_of_all() const;
  std::optional<double> capacity_of(const table_row& row) const;
  void measure_group(std::span<const named_target> group);
  void measure(table_place& at, table_row& row, std::uint64_t repetition);
  bool is_known(table_row& row, std::uint64_t repetition);
  void keep(table_row& row, std::uint64_t repetition, const report::recorded_run& run);
  void resume();
  std::vector<report::row> rows() const;
  std::vector<report::test_case> cases() const;
  std::optional<double> rest_s() const;
  void fail(table_row& row, const char* why);
  void remember(int status);
  void save();
  void save_html() const;
  void print_next() const;
  std::string format(const std::string& how) const;
  std::string whole_page(language in) const;

  const context& context_;
  const table_options& given_;
  metrics::exporter* exporter_;
  agent_group* from_;
  std::filesystem::path out_;
  output_file junit_;
  std::vector<named_target> targets_;
  std::deque<table_row> subjects_;
  nlohmann::json index_;  // of the runs in `out_`: what --resume needs to know
  int status_ = 0;
  int failures_ = 0;
  time_point began_ = real_clock{}.now();
  std::uint64_t runs_begun_ = 0;
  std::uint64_t runs_known_ = 0;   // of those, made before --resume
  std::uint64_t runs_in_all_ = 0;  // as far as target names tell
};

}  // namespace lockmark::cli
