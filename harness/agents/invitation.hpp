// What an agent needs to be let in: a token that says that it may join, and the certificate by
// which it knows its coordinator. Made anew for each command, so that none outlives it; or ahead of
// it, where the secrets of another system carry them: then the coordinator reads its own half.
//
// As text an invitation is one word, for files, environments and secrets of other systems.
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

inline constexpr long a_month_s = 31L * 24 * 3600;

// With a fresh key on P-256 and a token of 128 random bits, valid for so long. Throws
// std::runtime_error where OpenSSL cannot.
identity make_identity(long valid_s = a_month_s);

std::string to_text(const invitation& i);
// The invitation, and below it the key as PEM.
std::string to_text(const identity& who);

// Throw usage_error for a text that is none, or no longer valid; the text is not quoted. `where` is
// how the sentence begins: an option, and a file.
invitation read_invitation(std::string_view text, std::string_view where = "--invitation");
identity read_identity(std::string_view text, std::string_view where = "--identity");

}  // namespace lockmark::agents
