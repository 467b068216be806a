// Exceptions for people to read. Each carries one sentence and no password.
#pragma once

#include <stdexcept>

namespace lockmark {

// The user asked for something impossible: one sentence, exit status 2.
struct usage_error : std::runtime_error {
  using runtime_error::runtime_error;
};

}  // namespace lockmark
