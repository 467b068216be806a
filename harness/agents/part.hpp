// An agent's part of a run as a file, for the case that its coordinator does not live to write the
// run: what it was told, how its clock stood, and every report.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "agents.pb.h"
#include "harness/agents/host_clock.hpp"

namespace lockmark::agents {

inline constexpr const char* part_name = "part.bin";

class part_writer {
 public:
  // Creates the folder, for its owner alone, and the file in it. Throws file_error.
  part_writer(std::filesystem::path folder, const wire::Hello& agent, wire::Assignment assignment,
              std::int64_t at_ns, std::int64_t wall_ns);
  // Removes both, unless keep() was called.
  ~part_writer();
  part_writer(const part_writer&) = delete;
  part_writer& operator=(const part_writer&) = delete;

  void add(const exchange& e, std::int64_t at_ns);
  void add(const wire::Orders& o, std::int64_t at_ns);
  void add_report(const std::string& bytes, std::int64_t at_ns);
  // The file stays. False: not all of it could be written.
  bool keep();
  const std::filesystem::path& folder() const { return folder_; }

 private:
  void write(const wire::PartRecord& record);

  const std::filesystem::path folder_;
  std::ofstream out_;
  bool kept_ = false;
};

// The records of a folder's part. A last record that is not whole, as of an agent that was killed,
// is left out. Throws usage_error for what is not a part.
std::vector<wire::PartRecord> read_part(const std::filesystem::path& folder);

}  // namespace lockmark::agents
