// Runs as JUnit XML, which every CI service reads: a test suite per scenario, a test case per lock
// and topology.
//
//   <failure>  the lock did not hold
//   <error>    the figures are INVALID, the server was lost, the run was killed or never began
//   <skipped>  interrupted: inconclusive
//
// Provenance is in <properties>: of the suite where all its cases agree, else of the case.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/report/read.hpp"

namespace lockmark::report {

struct test_case {
  enum class outcome : std::uint8_t { passed, failed, error, skipped };

  std::string scenario;
  std::string name;  // "LOCK on TOPOLOGY"
  outcome how = outcome::passed;
  std::string type;     // unless passed: one word, such as "violation"
  std::string message;  // unless passed: one sentence
  std::string report;   // the text shown to a person
  double seconds = 0;
  std::string started_utc;
  std::vector<std::pair<std::string, std::string>> properties;
};

// Throws usage_error if run.json is incomplete.
test_case test_case_of(const recorded_run& run);

// A run that was requested but could not be measured.
test_case unmeasured(std::string scenario, std::string name, std::string why);

// Well-formed whatever the names contain. Suites in the order of their first case.
std::string junit_xml(const std::vector<test_case>& cases);

}  // namespace lockmark::report
