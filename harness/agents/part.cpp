#include "harness/agents/part.hpp"

#include <sys/stat.h>

#include "harness/agents/wire.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/config/redaction.hpp"

namespace lockmark::agents {
namespace {

// A record stands after its length, lowest byte first.
constexpr int size_bytes = 4;

// False: there is none, or not all of it.
bool read_record(std::istream& in, wire::PartRecord& record) {
  std::uint32_t size = 0;
  for (int i = 0; i < size_bytes; ++i) {
    const int byte = in.get();
    if (byte < 0) return false;
    size |= static_cast<std::uint32_t>(byte) << (8 * i);
  }
  if (size > static_cast<std::uint32_t>(largest_message)) return false;
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  return in.gcount() == static_cast<std::streamsize>(size) && record.ParseFromString(bytes);
}

}  // namespace

part_writer::part_writer(std::filesystem::path folder, const wire::Hello& agent,
                         wire::Assignment assignment, std::int64_t at_ns, std::int64_t wall_ns)
    : folder_(std::move(folder)) {
  create_private_folders(folder_);
  out_.open(folder_ / part_name, std::ios::binary);
  if (!out_) throw file_error(folder_ / part_name, "cannot be written", "it cannot be opened");
  ::chmod((folder_ / part_name).c_str(), 0600);
  // Nothing that would let its reader in: neither here nor at the servers.
  assignment.clear_target();
  const config::job job = config::parse_job(assignment.job(), "the coordinator's job");
  assignment.set_job(config::print_job(config::redacted(job)));
  wire::PartRecord record;
  record.set_at_ns(at_ns);
  *record.mutable_beginning()->mutable_agent() = agent;
  record.mutable_beginning()->mutable_agent()->clear_token();
  *record.mutable_beginning()->mutable_assignment() = std::move(assignment);
  record.mutable_beginning()->set_wall_ns(wall_ns);
  write(record);
}

part_writer::~part_writer() {
  if (kept_) return;
  out_.close();
  std::error_code ignored;
  std::filesystem::remove(folder_ / part_name, ignored);
  std::filesystem::remove(folder_, ignored);
}

void part_writer::write(const wire::PartRecord& record) {
  const std::string bytes = record.SerializeAsString();
  std::uint32_t left = static_cast<std::uint32_t>(bytes.size());
  for (int i = 0; i < size_bytes; ++i, left >>= 8) out_.put(static_cast<char>(left & 0xff));
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void part_writer::add(const exchange& e, std::int64_t at_ns) {
  wire::PartRecord record;
  record.set_at_ns(at_ns);
  wire::Exchange& x = *record.mutable_exchange();
  x.set_sent_ns(e.sent_ns);
  x.set_received_ns(e.received_ns);
  x.set_answered_ns(e.answered_ns);
  x.set_heard_ns(e.heard_ns);
  x.set_drift_ppm(e.drift_ppm);
  write(record);
}

void part_writer::add(const wire::Orders& o, std::int64_t at_ns) {
  wire::PartRecord record;
  record.set_at_ns(at_ns);
  *record.mutable_orders() = o;
  write(record);
}

void part_writer::add_report(const std::string& bytes, std::int64_t at_ns) {
  wire::PartRecord record;
  record.set_at_ns(at_ns);
  record.set_report(bytes);
  write(record);
}

bool part_writer::keep() {
  kept_ = true;
  out_.flush();
  return out_.good();
}

std::vector<wire::PartRecord> read_part(const std::filesystem::path& folder) {
  std::ifstream in(folder / part_name, std::ios::binary);
  if (!in) {
    throw usage_error("{}: there is no {} in it, which an agent whose coordinator was lost leaves",
                      folder.string(), part_name);
  }
  std::vector<wire::PartRecord> all;
  wire::PartRecord record;
  while (read_record(in, record)) all.push_back(record);
  if (all.empty() || !all.front().has_beginning()) {
    throw usage_error("{}: this is not an agent's part of a run", (folder / part_name).string());
  }
  return all;
}

}  // namespace lockmark::agents
