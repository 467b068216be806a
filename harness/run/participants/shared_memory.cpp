#include "harness/run/participants/shared_memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace lockmark::run {
namespace {

[[noreturn]] void fail_with_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

shared_memory::shared_memory(std::size_t size)
    : fd_(memfd_create("lockmark", MFD_CLOEXEC)), size_(size) {
  if (!fd_) fail_with_errno("no shared memory for a participant");
  if (ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) {
    fail_with_errno("not enough shared memory for a participant");
  }
  map();
}

shared_memory::shared_memory(unique_fd made, std::size_t size) : fd_(std::move(made)), size_(size) {
  struct stat about {};
  if (fstat(fd_.get(), &about) != 0)
    fail_with_errno("no shared memory was passed on to this participant");
  if (static_cast<std::size_t>(about.st_size) < size) {
    errno = EINVAL;
    fail_with_errno("the shared memory of this participant is too small");
  }
  map();
}

void shared_memory::map() {
  void* const at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (at == MAP_FAILED) fail_with_errno("the memory shared with a participant cannot be mapped");
  data_ = static_cast<std::byte*>(at);
}

shared_memory::~shared_memory() {
  munmap(data_, size_);
}

}  // namespace lockmark::run
