// One run of one side of the gate, in a process of its own: each starts with fresh memory, threads
// and connections, and either side can use another lockmark.
#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "harness/report/read.hpp"
#include "program/gate_side.hpp"

namespace lockmark::cli {

// The run could not be made; what() is a sentence.
struct run_failure : std::runtime_error {
  using runtime_error::runtime_error;
};

struct gate_run_request {
  const gate_side& side;
  std::string job;  // as named by the user
  std::string url;  // with its password
  std::vector<std::string> set;
  std::filesystem::path runs;          // the parent of the run folder
  std::vector<std::string> arguments;  // more of them
  std::function<void()> meanwhile{};   // called a few times a second
};

// Waits until the run has ended; passes interrupts on to it. Throws run_failure.
report::recorded_run run_apart(const gate_run_request& e);

}  // namespace lockmark::cli
