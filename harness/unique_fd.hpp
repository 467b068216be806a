// Owns one file descriptor; -1: none. Closes it on destruction, and ignores errors of close().
#pragma once

#include <unistd.h>

#include <utility>

namespace lockmark {

class unique_fd {
 public:
  unique_fd() = default;
  explicit unique_fd(int number) noexcept : number_(number) {}
  unique_fd(unique_fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~unique_fd() { reset(); }

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  void reset() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace lockmark
