// One run as shown in the page: run.json, and the run's course at the page's resolution.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/report/html/course.hpp"
#include "harness/report/html/look.hpp"
#include "harness/report/row.hpp"

namespace lockmark::report::html {

struct subject {
  recorded_run run;
  row in_table;
  std::string id;     // "r0": unique in the page, fit for an id
  std::string label;  // "LOCK on TOPOLOGY": unique among the page's runs of its scenario
  std::vector<std::string> settings;  // lines of job.yaml, "load.clients: 4"; none without it
  std::vector<stretch> stretches;
  std::vector<double> edges_s;  // of the stretches
  std::vector<moment> moments;  // one per stretch; none without latency.hlog
  curve response, service, timer_lag;
  std::vector<std::string> notes;  // missing or damaged files: sentences

  const json& at(std::initializer_list<const char*> path) const { return look(run.content, path); }
  std::string time(const json& value) const { return shown_time(value, in_table.bound); }
  // Attempts without the lock; of a killed run, as far as it had written.
  std::int64_t not_granted() const;
};

// Reads run.json, timeline.jsonl and latency.hlog, or what a killed run left of them; the last two
// are optional. `path` is the folder or its run.json; the run's course has at most `stretches`
// stretches. Throws usage_error as read_run and row_of do.
subject read_subject(const std::filesystem::path& path, std::size_t stretches);

// Gives the subjects their ids, and labels that differ within a scenario: lock and topology, then
// as much of the options, the settings that differ, and the folder's name as needed.
void name_apart(std::vector<subject>& subjects);

// "held", "broken" or "unknown".
std::string verdict_of(const subject& s);
// "held", "NOT HELD" or "unknown".
std::string held_word(const subject& s);
// "valid", "bound", "INVALID" or "incomplete".
std::string figures_word(const subject& s);
// The state of its bar in a chart, see charts.hpp.
std::string state_of(const subject& s);

}  // namespace lockmark::report::html
