// Programs that start agents elsewhere: ssh, mpirun, srun, or any other. Ended with this object.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockmark::cli {

class launched {
 public:
  // `name` is what messages call it. `words` is the program, found by PATH, and its arguments.
  // `input` is what it reads from stdin. Throws std::system_error where the system has no process
  // or no memory left.
  launched(std::string name, std::vector<std::string> words,
           const std::map<std::string, std::string>& environment, const std::string& input);
  launched(const launched&) = delete;
  launched& operator=(const launched&) = delete;
  // Asks its process group to end, and after two seconds makes it.
  ~launched();

  bool has_ended();
  // As shells say that there is no such program: here, or where this launcher starts it.
  bool found_no_program();
  // How it failed: "ssh h1 ended with exit status 255"; nothing while it runs, or if it exited 0,
  // as a launcher does that has handed the agents over.
  std::optional<std::string> failed();

 private:
  const std::string name_;
  pid_t pid_ = 0;
  std::optional<int> status_;
};

// Returns once all have ended, or after five seconds. For those whose agents were dismissed: a
// launcher that is told to end before it has seen its agents end takes that for a failure.
void wait_for(const std::vector<std::unique_ptr<launched>>& all);

}  // namespace lockmark::cli
