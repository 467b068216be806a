// What a server sends to a connection that is subscribed to channels. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "drivers/redis/resp.hpp"

namespace lockmark::redis {

struct push {
  enum class kind : std::uint8_t { subscribed, unsubscribed, message };
  kind what = kind::message;
  // Of the reply that was parsed.
  std::string_view channel;
  std::string_view text;  // of a message
};

// ["subscribe", channel, count], ["unsubscribe", channel, count] or ["message", channel, text];
// with an s before each where messages are sharded. Nothing for what is none of them.
std::optional<push> parse_push(const reply& r, bool sharded);

}  // namespace lockmark::redis
