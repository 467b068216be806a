// The job of a participant, sent to it at its start over a socket, because other users can read the
// command line and the environment of a process, and a target may contain a password.
#pragma once

#include <map>
#include <string>

#include "harness/config/job.hpp"
#include "harness/driver.hpp"
#include "harness/run/participants/blocks.hpp"

namespace lockmark::run {

// Later orders, as bytes over the same socket.
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
// Throws std::runtime_error for malformed text.
assignment read_assignment(const std::string& text);

// Send a text through a socket, and receive it on the other side. False: the other side is gone, or
// does not accept it.
bool send_text(int socket, const std::string& text);
bool receive_text(int socket, std::string& text);

}  // namespace lockmark::run
