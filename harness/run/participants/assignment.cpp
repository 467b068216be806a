#include "harness/run/participants/assignment.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <nlohmann/json.hpp>

namespace lockmark::run {
namespace {

using json = nlohmann::ordered_json;

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
  json j;
  j["job"] = config::print_job(a.job);
  j["lock"] = a.lock;
  j["workload"] = a.workload;
  j["options"] = json::object();
  for (const auto& [name, value] : a.options) j["options"][name] = value;
  j["target"] = a.target;
  j["run_id"] = a.run_id;
  j["number"] = a.number;
  j["participants"] = a.participants;
  j["notes_answers"] = a.notes_answers;
  j["registers"] = a.common.registers;
  j["events"] = a.own.events;
  j["interval_bytes"] = a.own.interval_bytes;
  return j.dump();
}

assignment read_assignment(const std::string& text) {
  const json j = json::parse(text);
  assignment a;
  a.job = config::parse_job(j.at("job").get<std::string>(), "participant");
  j.at("lock").get_to(a.lock);
  j.at("workload").get_to(a.workload);
  for (const auto& [name, value] : j.at("options").items()) {
    a.options[name] = value.get<std::string>();
  }
  j.at("target").get_to(a.target);
  j.at("run_id").get_to(a.run_id);
  j.at("number").get_to(a.number);
  j.at("participants").get_to(a.participants);
  j.at("notes_answers").get_to(a.notes_answers);
  j.at("registers").get_to(a.common.registers);
  j.at("events").get_to(a.own.events);
  j.at("interval_bytes").get_to(a.own.interval_bytes);
  return a;
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

}  // namespace lockmark::run
