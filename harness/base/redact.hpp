// What of a text may be shown and stored: everything but passwords, and of users' commands only the
// program. Where these functions cannot know what is a secret, they show too little.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockmark {

inline constexpr std::string_view hidden = "***";

// Whether an option or a member of a query of this name holds a secret: "sentinelPassword". Where a
// secret is kept ("password-file", "password-env") is none.
bool names_a_secret(std::string_view name);

// A command of a user's, who may have put a secret anywhere in it: "ssh ***" for all that begins
// with ssh, "***" where the first word is no plain name of a program. Names of files that are there
// are shown up to the first word that is none: "python3 my_lock.py ***". What was shown so once is
// shown so again, and is_hidden of it.
std::string shown_command(std::string_view command);
bool is_hidden(std::string_view command);

// "scheme://user:***@host" wherever a login of a URL stands in a text. Every @ in a word belongs to
// the login, since a password may hold what should have been escaped.
std::string without_logins(std::string_view text);

// Without these secrets, in full or in part of a longer word. Empty ones do not matter.
std::string without_secrets(std::string_view text, const std::vector<std::string>& secrets);

// What a command said, without what it repeats of its own words after the program: whole ones, and
// parts between signs, of at least four characters. Words that are names of existing files stay.
std::string without_echo(std::string_view text, std::string_view command);

}  // namespace lockmark
