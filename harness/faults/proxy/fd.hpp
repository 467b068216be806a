// Owns one file descriptor; -1 is none.
#pragma once

#include <unistd.h>

#include <utility>

namespace lockmark::faults {

class fd {
 public:
  fd() = default;
  explicit fd(int number) noexcept : number_(number) {}
  fd(fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  fd& operator=(fd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~fd() { reset(); }

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  void reset() noexcept {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace lockmark::faults
