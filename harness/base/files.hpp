// Files that nobody finds half of and only their owner reads. A file is written as NAME.part, and
// gets its name when every byte of it is with the system. What is made here has the mode 0600, or
// 0700 for a folder, whatever the umask: run folders, tables and reports tell how servers are
// reached. Knows nothing of what is in a file.
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
  // The part of the sentence that the system said.
  const std::string& why() const { return why_; }

 private:
  std::string why_;
};

// Makes the folder and those above it that are missing. What exists stays as it is. Throws
// file_error ("... cannot be created: ...").
void create_private_folders(const std::filesystem::path& folder);

// A file that grows. Where it is never finished, what was written stays as NAME.part.
class part_file {
 public:
  // Throws file_error. Another NAME.part is replaced, and a link of that name is not followed.
  void open(std::filesystem::path file);

  // REQUIRES for all: opened. What could not be written is told by the next flush or finish.
  std::ostream& out() { return out_; }
  void flush();   // hands all to the system; throws file_error
  void finish();  // the same, closes it and gives it its name; throws file_error

 private:
  std::filesystem::path file_;
  std::ofstream out_;
};

// Throws file_error where write_whole_file would. Leaves nothing behind.
void check_writable(const std::filesystem::path& file);

// Throws file_error, and then leaves whatever had that name before, and no part. What is no regular
// file (/dev/stdout, a pipe) cannot be replaced and is written to as it is; a link stays a link.
void write_whole_file(const std::filesystem::path& file, std::string_view text);

// What can be read of the file; "" where nothing can. Throws nothing where reading fails, as it
// does for a folder and for the files in /proc of a process that ends meanwhile.
std::string readable_text(const std::filesystem::path& file);

// Appends all of the text or nothing, also beside others that append. Throws file_error.
void append_to_file(const std::filesystem::path& file, std::string_view text);

}  // namespace lockmark
