// The error of local servers: a sentence for the user, and the end of the server's log.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace lockmark::local {

// what() is one sentence that names the server and the expectation; log() is the end of that
// server's log (at most 20 lines), empty if no server had started.
class start_error : public std::runtime_error {
 public:
  explicit start_error(const std::string& sentence, std::string log = {})
      : std::runtime_error(sentence), log_(std::move(log)) {}
  const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

}  // namespace lockmark::local
