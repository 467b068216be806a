// Files that are never seen half-written and that only their owner can read. A file is written as
// NAME.part, and renamed once every byte has reached the system. Files created here have mode 0600,
// folders 0700, whatever the umask: run folders, tables and reports tell how to reach servers.
// Knows nothing about the contents.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lockmark {

// what() is one sentence: "FILE cannot be written: No space left on device".
class file_error : public std::runtime_error {
 public:
  file_error(const std::filesystem::path& file, std::string_view problem, std::string why);
  // The system's part of the sentence.
  const std::string& why() const { return why_; }

 private:
  std::string why_;
};

// Creates the folder and its missing parents. Existing ones stay unchanged. Throws file_error
// ("... cannot be created: ...").
void create_private_folders(const std::filesystem::path& folder);

// A file that grows. If it is never finished, it stays as NAME.part.
class part_file {
 public:
  // Throws file_error. Replaces an existing NAME.part; does not follow a link of that name.
  void open(std::filesystem::path file);

  // REQUIRES for all: opened. Write errors surface at the next flush or finish.
  std::ostream& out() { return out_; }
  void flush();   // hands everything to the system; throws file_error
  void finish();  // the same, then closes and renames the file; throws file_error

 private:
  std::filesystem::path file_;
  std::ofstream out_;
};

// Throws file_error when write_whole_file would. Leaves nothing behind.
void check_writable(const std::filesystem::path& file);

// Throws file_error; any previous file of that name then stays, and no part is left. Anything but a
// regular file (/dev/stdout, a pipe) cannot be replaced and is written to directly; a link stays a
// link.
void write_whole_file(const std::filesystem::path& file, std::string_view text);

// The readable contents of the file, or "" if there are none. Does not throw when reading fails, as
// for a folder or a file in /proc of a process that ends meanwhile.
std::string readable_text(const std::filesystem::path& file);

// Appends all of the text or nothing, even with concurrent appenders. Throws file_error.
void append_to_file(const std::filesystem::path& file, std::string_view text);

}  // namespace lockmark
