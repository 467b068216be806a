#include "harness/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

namespace lockmark {
namespace {

namespace fs = std::filesystem;

constexpr mode_t private_file = 0600;
constexpr mode_t private_folder = 0700;
constexpr std::string_view not_written = "cannot be written";

// The error of the last failed system call.
std::string system_reason() {
  return errno != 0 ? std::strerror(errno) : "the system does not say why";
}

[[noreturn]] void fail_to_write(const fs::path& file) {
  throw file_error(file, not_written, system_reason());
}

fs::path part_of(fs::path file) {
  file += ".part";
  return file;
}

// A descriptor whose close may fail: a disk quota may be reported only then.
class writer {
 public:
  explicit writer(int fd) : fd_(fd) {}
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  ~writer() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool opened() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  bool write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::write(fd_, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// Creates a file; the umask may have removed some of its mode bits, hence fchmod.
int create_private(const fs::path& file, int flags) {
  const int made = open(file.c_str(), flags | O_CREAT | O_EXCL | O_CLOEXEC, private_file);
  if (made >= 0) fchmod(made, private_file);
  return made;
}

// Creates an empty NAME.part. A file that someone else may have put there is not written to.
int create_part(const fs::path& file) {
  const fs::path part = part_of(file);
  unlink(part.c_str());
  return create_private(part, O_WRONLY);
}

// For example a terminal, a pipe or /dev/null.
bool is_no_regular_file(const fs::path& file) {
  std::error_code unknown;
  const auto what = fs::status(file, unknown).type();
  return what == fs::file_type::character || what == fs::file_type::block ||
         what == fs::file_type::fifo || what == fs::file_type::socket;
}

// The file to replace: the target of a link, not the link.
fs::path behind_links(const fs::path& file) {
  std::error_code failed;
  if (!fs::is_symlink(file, failed)) return file;
  const fs::path real = fs::canonical(file, failed);
  return failed ? file : real;
}

void write_in_place(const fs::path& file, std::string_view text) {
  writer out(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!out.opened() || !out.write(text) || !out.close()) fail_to_write(file);
}

void remove_quietly(const fs::path& file) {
  const int kept = errno;
  std::error_code ignored;
  fs::remove(file, ignored);
  errno = kept;
}

}  // namespace

file_error::file_error(const fs::path& file, std::string_view problem, std::string why)
    : runtime_error(fmt::format("{} {}: {}", file.string(), problem, why)), why_(std::move(why)) {}

void create_private_folders(const fs::path& folder) {
  const fs::path whole = folder.has_filename() ? folder : folder.parent_path();
  fs::path made;
  for (const fs::path& name : whole) {
    made /= name;
    if (mkdir(made.c_str(), private_folder) == 0) {
      if (chmod(made.c_str(), private_folder) == 0) continue;
    } else if (std::error_code unknown; fs::is_directory(made, unknown)) {
      continue;
    }
    throw file_error(whole, "cannot be created", system_reason());
  }
}

void part_file::open(fs::path file) {
  file_ = std::move(file);
  if (!writer(create_part(file_)).opened()) fail_to_write(file_);
  out_ = std::ofstream(part_of(file_), std::ios::binary | std::ios::trunc);
  if (!out_) fail_to_write(file_);
}

void part_file::flush() {
  if (out_) errno = 0;
  out_.flush();
  if (!out_) fail_to_write(file_);
}

void part_file::finish() {
  if (out_) errno = 0;
  out_.close();
  if (!out_ || rename(part_of(file_).c_str(), file_.c_str()) != 0) fail_to_write(file_);
}

void check_writable(const fs::path& file) {
  std::error_code unknown;
  errno = 0;
  if (is_no_regular_file(file)) {
    if (access(file.c_str(), W_OK) != 0) fail_to_write(file);
    return;
  }
  if (fs::is_directory(file, unknown)) {
    errno = EISDIR;
    fail_to_write(file);
  }
  const fs::path real = behind_links(file);
  if (!writer(create_part(real)).opened()) fail_to_write(file);
  remove_quietly(part_of(real));
}

void write_whole_file(const fs::path& file, std::string_view text) {
  if (is_no_regular_file(file)) return write_in_place(file, text);
  const fs::path real = behind_links(file);
  writer out(create_part(real));
  if (out.opened() && out.write(text) && out.close() &&
      rename(part_of(real).c_str(), real.c_str()) == 0) {
    return;
  }
  remove_quietly(part_of(real));
  fail_to_write(file);
}

// operator<< on the stream, because an iterator over its buffer throws when a read fails.
std::string readable_text(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void append_to_file(const fs::path& file, std::string_view text) {
  errno = 0;
  int fd = create_private(file, O_WRONLY | O_APPEND);
  if (fd < 0 && errno == EEXIST) fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  writer out(fd);
  struct stat before {};
  if (!out.opened() || flock(out.fd(), LOCK_EX) != 0 || fstat(out.fd(), &before) != 0) {
    fail_to_write(file);
  }
  if (out.write(text)) {
    if (!out.close()) fail_to_write(file);
    return;
  }
  std::string why = system_reason();
  if (S_ISREG(before.st_mode) && ftruncate(out.fd(), before.st_size) != 0) {
    throw file_error(file, "ends in half a line", std::move(why));
  }
  throw file_error(file, not_written, std::move(why));
}

}  // namespace lockmark
