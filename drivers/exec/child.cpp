#include "drivers/exec/child.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "drivers/exec/guard.hpp"

namespace lockmark::exec {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::pair<unique_fd, unique_fd> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("no pipe to a lock client");
  return {unique_fd{ends[0]}, unique_fd{ends[1]}};
}

// Sockets instead of pipes: they can be written to without SIGPIPE.
std::pair<unique_fd, unique_fd> make_sockets() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail("no socket to a lock client");
  }
  return {unique_fd{ends[0]}, unique_fd{ends[1]}};
}

void never_block(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

child::child(const std::vector<std::string>& argv) {
  std::vector<std::string> words = argv;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  auto [in_there, in_here] = make_sockets();
  auto [out_here, out_there] = make_pipe();
  auto [err_here, err_there] = make_pipe();
  auto [life_here, life_there] = make_sockets();
  guard_ = fork();
  if (guard_ < 0) fail("no process for a lock client");
  if (guard_ == 0) {
    be_guard({pointers.data(), in_there.get(), out_there.get(), err_there.get(), in_here.get(),
              life_there.get()});
  }
  ended_ = unique_fd{static_cast<int>(syscall(SYS_pidfd_open, guard_, 0))};
  in_ = std::move(in_here);
  out_ = std::move(out_here);
  err_ = std::move(err_here);
  life_ = std::move(life_here);
  for (const int fd : {in_.get(), out_.get(), err_.get()}) never_block(fd);
}

child::~child() {
  if (status_) return;
  life_.reset();
  int status = 0;
  while (waitpid(guard_, &status, 0) < 0 && errno == EINTR) continue;
}

long child::write_now(const char* bytes, std::size_t size) {
  const auto n = send(in_.get(), bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  const bool later = n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS);
  return later ? 0 : n;
}

long child::read_now(int fd, char* room, std::size_t size) {
  const auto n = read(fd, room, size);
  if (n < 0 && errno != EAGAIN && errno != EINTR) return 0;
  return n;
}

// Not by closing: a loop may still know the descriptor by its number.
void child::close_in() {
  shutdown(in_.get(), SHUT_WR);
}

void child::signal_all(int number) {
  const auto byte = static_cast<unsigned char>(number);
  send(life_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<int> child::status() {
  int status = 0;
  if (!status_ && waitpid(guard_, &status, WNOHANG) == guard_) status_ = status;
  return status_;
}

}  // namespace lockmark::exec
