// Programs that start agents elsewhere: ssh, mpirun, srun, or any other. Ended with this object.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockmark::cli {

class launched {
 public:
  // `words` is the program, found by PATH, and its arguments. `input` is what it reads from stdin,
  // at most 4,096 bytes. Throws std::system_error where the system has no process left.
  launched(std::vector<std::string> words, const std::map<std::string, std::string>& environment,
           const std::string& input);
  launched(const launched&) = delete;
  launched& operator=(const launched&) = delete;
  // Asks its process group to end, and after two seconds makes it.
  ~launched();

  // How it ended: "ssh h1 ended with exit status 255"; nothing while it runs.
  std::optional<std::string> ended();

 private:
  const std::string name_;
  pid_t pid_ = 0;
  std::optional<int> status_;
};

}  // namespace lockmark::cli
