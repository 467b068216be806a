#include "deploy/local/record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lockmark::local {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(server_info, name, pid, port, log)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(cluster_info, topology, target, directory, in_memory, keeper,
                                   servers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(peer_way, from, to, port)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(reply, cluster, error, log, ways)

namespace {

// A server's log may contain bytes that are not UTF-8; they must not hide the error.
template <class value>
std::string as_text(const value& what) {
  return nlohmann::json(what).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class value>
value value_from(std::string_view text) {
  try {
    return nlohmann::json::parse(text).get<value>();
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(fmt::format("not the record of a cluster: {}", error.what()));
  }
}

}  // namespace

std::string to_json(const cluster_info& cluster) {
  return as_text(cluster);
}
std::string to_json(const reply& answer) {
  return as_text(answer);
}
cluster_info cluster_from_json(std::string_view text) {
  return value_from<cluster_info>(text);
}
reply reply_from_json(std::string_view text) {
  return value_from<reply>(text);
}

}  // namespace lockmark::local
