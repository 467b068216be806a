// Decides which parts of a text may be shown and stored: everything but passwords; of users'
// commands only the program. When in doubt, these functions show too little.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockmark {

inline constexpr std::string_view hidden = "***";

// Whether an option or query parameter of this name holds a secret: "sentinelPassword". The
// location of a secret ("password-file", "password-env") is not one.
bool names_a_secret(std::string_view name);

// A user's command, which may contain a secret anywhere: "ssh ***" for any command that begins with
// ssh, "***" if the first word is not a plain program name. Names of existing files are shown up to
// the first word that is not one: "python3 my_lock.py ***". Idempotent: showing the result again
// changes neither it nor its is_hidden().
std::string shown_command(std::string_view command);
bool is_hidden(std::string_view command);

// "scheme://user:***@host" for every login of a URL in a text. Every @ in a word belongs to the
// login, since a password may contain characters that should have been escaped.
std::string without_logins(std::string_view text);

// Removes these secrets, also inside longer words. Empty secrets are ignored.
std::string without_secrets(std::string_view text, const std::vector<std::string>& secrets);

// The output of a command without its own words after the program: whole words, and parts between
// punctuation, of at least four characters. Names of existing files stay.
std::string without_echo(std::string_view text, std::string_view command);

// The words of a command that without_echo removes, and their parts, long ones first; for callers
// that read the output line by line.
std::vector<std::string> echoes_of(std::string_view command);

}  // namespace lockmark
