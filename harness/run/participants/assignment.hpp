// What a participant is told at its start: its whole job, over a socket, because the command line
// and the environment of a process can be read by others, and a target may hold a password.
#pragma once

#include <map>
#include <string>

#include "harness/config/job.hpp"
#include "harness/driver.hpp"
#include "harness/run/participants/blocks.hpp"

namespace lockmark::run {

// What it is ordered later, as bytes over the same socket.
enum class order : char { go = 'g', stop = 's', hurry = 'h', close = 'c' };

struct assignment {
  config::job job;
  std::string lock;
  std::string workload;
  option_values options;  // of the lock, all of them
  std::string target;     // the URL, with its password
  std::string run_id;
  std::uint32_t number = 0;        // of this participant, from 0
  std::uint32_t participants = 1;  // in all
  bool notes_answers = false;      // as in worker_setup
  common_layout common;
  participant_layout own;
};

std::string to_text(const assignment& a);
// Throws std::runtime_error for a text that is none.
assignment read_assignment(const std::string& text);

// Sends a text through a socket, and receives it on the other side. False: the other side is gone,
// or does not take it.
bool send_text(int socket, const std::string& text);
bool receive_text(int socket, std::string& text);

}  // namespace lockmark::run
