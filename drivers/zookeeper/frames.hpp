// Validates messages from ZooKeeper servers: does a reply match its request? Pure functions.
//
// The C client (3.8) does not check: it allocates whatever length a message announces, asserts that
// a reply has a request, trusts the number of children, and uses uninitialised memory when a
// message ends too early. So each message is validated before the client sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockmark::zookeeper {

// The largest message accepted: the limit of ZooKeeper's own clients (jute.maxbuffer).
inline constexpr std::size_t frame_limit = std::size_t{1} << 20;

// The body after a reply's header, unless the reply is an error.
enum class body : std::uint8_t { nothing, path, path_and_stat, stat, data_and_stat, names };

// The size of the message that begins here, including its four bytes of length; nothing while those
// are incomplete. An impossible length is returned as it is.
std::optional<std::int64_t> frame_length(std::string_view begin);

// The fault of a complete message (including its four bytes of length); empty: none. `awaited` is
// the body expected by the oldest unanswered request, if there is one.
std::string wrong_in(std::string_view frame, std::optional<body> awaited);

}  // namespace lockmark::zookeeper
