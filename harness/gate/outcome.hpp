// The result of `lockmark gate`, as text for people and as data for programs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/gate/session.hpp"
#include "harness/report/junit.hpp"
#include "harness/report/style.hpp"

namespace lockmark::gate {

struct outcome {
  std::string job;       // "contended"
  std::string baseline;  // what was compared, in a few words, without passwords
  std::string candidate;
  std::string started_utc;
  double took_s = 0;
  std::uint64_t seed = 0;
  // Which side of each pair ran first: 'b' baseline, 'c' candidate; empty for a stored baseline.
  std::string order;
  std::vector<std::pair<std::string, std::string>> runs;  // folders, baseline and candidate
  // Of the candidate's first run: versions, host, server.
  nlohmann::ordered_json provenance;
  std::string stored;  // the run of a stored baseline and its source; else empty
  conclusion found;

  // The stored baseline is from another machine: regressions warn and do not fail.
  bool only_warns = false;
};

// The exit status of the process: 0, 1 or 3.
int exit_status(const outcome& o);

// "PASS", "REGRESSION", "INCONCLUSIVE"; "WARNING" for a regression that only warns.
std::string verdict_of(const outcome& o);

std::string outcome_text(const outcome& o, const report::style& look = {});

// For a pull request: the verdict first, below report::most_markdown_bytes.
std::string outcome_markdown(const outcome& o);

// With schema_version; includes figures that the text leaves out.
nlohmann::ordered_json outcome_json(const outcome& o);

// A suite with one case per metric: failure for a regression, skipped if inconclusive. One more
// case covers what concerns them all.
std::vector<report::test_case> outcome_cases(const outcome& o);

// One line of a history file: time, revision, seed and result, with the line break.
std::string history_line(const outcome& o);

// The lines of such a file as CSV with a column for each of the candidate's metrics, in their base
// units, as Apache Otava reads it (type: csv, time_column: time, attributes: [commit]). Skips lines
// that history_line did not write. Throws usage_error, which names `file`, if there is no other
// line.
std::string otava_csv(const std::string& history, const std::string& file);

}  // namespace lockmark::gate
