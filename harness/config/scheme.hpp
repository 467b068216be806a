// The forms of target URLs: one row per scheme, which its backend declares beside its drivers
// (drivers/redis/schemes.hpp). The harness names none of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockmark::config {

// The path allowed after the hosts.
enum class path_rule : std::uint8_t { none, database_number, required_name, chroot, optional_name };

// SCHEME://hosts/path?query; nothing after the colon; a name; the words of a command.
enum class target_form : std::uint8_t { network, bare, name, command };

struct scheme {
  std::string_view name;
  target_form form = target_form::network;
  std::uint16_t default_port = 0;
  bool many_hosts = false;
  path_rule path = path_rule::none;
  std::string_view usage{};  // the whole form, for errors
  bool tls = false;          // always on
  // The names that locks use for such servers (lock_kind::topologies): one host, and several if
  // that differs.
  std::string_view topology{};
  std::string_view topology_of_several{};
  bool counts_hosts = false;  // tables distinguish an ensemble of five from one of three
};

// All backends' schemes and those of lockmark's own servers, in the order of help texts. Defined by
// drivers/schemes.cpp.
std::span<const scheme> schemes();

// Null for an undeclared scheme.
const scheme* find_scheme(std::string_view name);

}  // namespace lockmark::config
