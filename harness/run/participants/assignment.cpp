#include "harness/run/participants/assignment.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <nlohmann/json.hpp>

namespace lockmark {

namespace config {

void to_json(nlohmann::json& j, const job& whole) {
  j = print_job(whole);
}

void from_json(const nlohmann::json& j, job& whole) {
  whole = parse_job(j.get<std::string>(), "participant");
}

}  // namespace config

namespace run {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(common_layout, registers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(participant_layout, events, interval_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(assignment, job, lock, workload, options, target, run_id, number,
                                   participants, notes_answers, common, own)

namespace {

bool send_all(int socket, const char* bytes, std::size_t size) {
  while (size > 0) {
    const auto sent = send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, char* bytes, std::size_t size) {
  while (size > 0) {
    const auto got = recv(socket, bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

std::string to_text(const assignment& a) {
  return nlohmann::json(a).dump();
}

assignment read_assignment(const std::string& text) {
  return nlohmann::json::parse(text).get<assignment>();
}

bool send_text(int socket, const std::string& text) {
  const std::uint64_t size = text.size();
  return send_all(socket, reinterpret_cast<const char*>(&size), sizeof size) &&
         send_all(socket, text.data(), text.size());
}

bool receive_text(int socket, std::string& text) {
  std::uint64_t size = 0;
  if (!receive_all(socket, reinterpret_cast<char*>(&size), sizeof size)) return false;
  text.resize(size);
  return receive_all(socket, text.data(), size);
}

}  // namespace run
}  // namespace lockmark
