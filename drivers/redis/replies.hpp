// The meaning of replies: their shape, what servers report of themselves, messages to subscribers,
// and how a reply is shown to people. Values only: callers turn a wrong reply into no_server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drivers/redis/resp.hpp"
#include "harness/config/target.hpp"

namespace lockmark::redis {

// Whether `r`, which is no error, can be the answer to this command (in RESP). True for commands
// whose answers no lock depends on.
bool is_answer_to(std::string_view command, const reply& r);

// "the number 7", "a list of 3", "the text 'abc'".
std::string describe(const reply& r);

// A server's text, fit for a sentence: at most 200 bytes, on one line.
std::string excerpt(std::string_view said);

// The sentences about a server that answered `command` with `r`: an error, or no answer to it.
std::string answered_with_error(std::string_view server, std::string_view command, const reply& r);
std::string answered_wrongly(std::string_view server, std::string_view command, const reply& r);

// The value in a "<name>:<value>" line of INFO: "7.0.15" for "redis_version".
std::string_view info_field(std::string_view info, std::string_view name);

// Whether a server with this INFO has WAITAOF: Redis and Valkey from 7.2 on.
bool has_waitaof(std::string_view info);
bool is_pair_of_numbers(const reply& r);

// The product and its version, of a server with this INFO: Valkey calls itself Redis 7.2 for old
// clients' sake, and has a name and a version of its own beside that. "Redis" if it tells neither.
struct product {
  std::string_view name;
  std::string_view version;
};
product product_in(std::string_view info);
// standalone, sentinel or cluster; empty if the server does not tell.
std::string_view mode_in(std::string_view info);

// The value that CONFIG GET answered; empty if the server does not tell.
std::string_view setting_in(const reply& said);

// The decimal number that a text begins with; 0 if there is none.
std::uint64_t number_in(std::string_view text);

// The answer to SENTINEL get-master-addr-by-name. Nothing: the sentinel knows no such master.
std::optional<config::host_port> parse_master_address(const reply& r);

// The answer to ROLE: whether this server takes writes.
bool is_master(const reply& role);

// A message to a connection that is subscribed to channels. The texts are parts of the reply that
// was parsed.
struct push {
  enum class kind : std::uint8_t { subscribed, unsubscribed, message };
  kind what = kind::message;
  std::string_view channel;
  std::string_view text;  // of a message
};

// ["subscribe", channel, count], ["unsubscribe", channel, count] or ["message", channel, text],
// with an s before each name where messages are sharded; nothing for any other reply.
std::optional<push> parse_push(const reply& r, bool sharded);

}  // namespace lockmark::redis
