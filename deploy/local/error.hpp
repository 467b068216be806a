// The one error of local servers: a sentence for the user, and the server's own words beside it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace lockmark::local {

// what() is one sentence that names the server and says what was expected; log() is the end of
// that server's own log (at most 20 lines), empty where no server had started.
class start_error : public std::runtime_error {
 public:
  explicit start_error(const std::string& sentence, std::string log = {})
      : std::runtime_error(sentence), log_(std::move(log)) {}
  const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

}  // namespace lockmark::local
