// One run of a side of the gate, in a process of its own: each begins with fresh memory, fresh
// threads and fresh connections, and either side can be another lockmark.
#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "harness/report/read.hpp"
#include "program/gate_side.hpp"

namespace lockmark::cli {

// The run could not be made; a sentence.
struct run_failure : std::runtime_error {
  using runtime_error::runtime_error;
};

struct gate_run_request {
  const gate_side& side;
  std::string job;  // as the user named it
  std::string url;  // with its password
  std::vector<std::string> set;
  std::filesystem::path runs;         // the run folder appears in here
  std::function<void()> meanwhile{};  // called a few times a second
};

// Waits until it has ended; an interrupt is passed on to it. Throws run_failure.
report::recorded_run run_apart(const gate_run_request& e);

}  // namespace lockmark::cli
