#include "drivers/redis/sentinel_replies.hpp"

#include <charconv>

namespace lockmark::redis {

std::optional<config::host_port> parse_master_address(const reply& r) {
  if (r.parts.size() != 2 || r.parts[0].text.empty()) return std::nullopt;
  const std::string& digits = r.parts[1].text;
  const char* const end = digits.data() + digits.size();
  config::host_port address{r.parts[0].text, 0};
  const auto read = std::from_chars(digits.data(), end, address.port);
  if (read.ec != std::errc{} || read.ptr != end || address.port == 0) return std::nullopt;
  return address;
}

bool is_master(const reply& role) {
  return !role.parts.empty() && role.parts[0].text == "master";
}

}  // namespace lockmark::redis
