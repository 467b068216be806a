// What an agent needs to be let in: a token that says that it may join, and the certificate by
// which it knows its coordinator. Made anew for each command, so that none outlives it.
//
// As text it is one word, for files, environments and secrets of other systems.
#pragma once

#include <string>
#include <string_view>

namespace lockmark::agents {

// The name that the certificate is for, whatever address the coordinator is reached by.
inline constexpr const char* coordinators_name = "lockmark";

struct invitation {
  std::string token;
  std::string certificate;  // PEM
};

// The coordinator's own half.
struct identity {
  invitation guests;
  std::string key;  // PEM, of the certificate
};

// With a fresh key on P-256 and a token of 128 random bits. Throws std::runtime_error where OpenSSL
// cannot.
identity make_identity();

std::string to_text(const invitation& i);
// Throws usage_error for a text that is not an invitation; the text is not quoted.
invitation read_invitation(std::string_view text);

}  // namespace lockmark::agents
