// Memory that two processes map at once: a memfd, all zeros when it is new.
#pragma once

#include <cstddef>
#include <span>

#include "harness/unique_fd.hpp"

namespace lockmark::run {

class shared_memory {
 public:
  // Creates it. Throws std::system_error when the system has none left.
  explicit shared_memory(std::size_t size);
  // Maps what another process created. Throws std::system_error if it is smaller.
  shared_memory(unique_fd made, std::size_t size);
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory();

  int fd() const { return fd_.get(); }
  std::byte* data() const { return data_; }

 private:
  void map();

  unique_fd fd_;
  std::size_t size_;
  std::byte* data_ = nullptr;
};

}  // namespace lockmark::run
