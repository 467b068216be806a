// What ZooKeeper servers send: whether a message is what was asked for. Pure functions.
//
// The C client (3.8) does not look: it allocates whatever length a message announces, asserts that
// somebody asked for an answer, believes the number of children, and goes on with memory that it
// never filled where a message ends too early. So each message is held to this before it sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockmark::zookeeper {

// The most that a message may have: as much as ZooKeeper's own clients take (jute.maxbuffer).
inline constexpr std::size_t frame_limit = std::size_t{1} << 20;

// What an answer carries behind its header, unless it is an error.
enum class body : std::uint8_t { nothing, path, path_and_stat, stat, data_and_stat, names };

// The bytes of the message that begins here, with the four that announce them; nothing while those
// are not there. A length that cannot be comes back as it is.
std::optional<std::int64_t> frame_length(std::string_view begin);

// What is wrong with a whole message, its four bytes of length included; empty: nothing. `awaited`
// is what the oldest unanswered request asked for, if there is one.
std::string wrong_in(std::string_view frame, std::optional<body> awaited);

}  // namespace lockmark::zookeeper
