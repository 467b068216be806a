#include "drivers/etcd/status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockmark::etcd {
namespace {

constexpr std::size_t longest_quote = 200;

struct known_error {
  std::string_view words;  // part of the message
  trouble means;
};

constexpr known_error known_errors[] = {
    {"requested lease not found", trouble::lease_gone},
    {"session is expired", trouble::lease_gone},  // v3lock, from 3.5
    {"invalid auth token", trouble::token_ended},
    {"revision of auth store is old", trouble::token_ended},
    {"authentication failed", trouble::bad_login},
    {"authentication is not enabled", trouble::no_login},
    {"user name is empty", trouble::needs_login},
    {"permission denied", trouble::no_rights},
    {"database space exceeded", trouble::out_of_space},
    {"no leader", trouble::not_now},
    {"too many requests", trouble::not_now},
    {"unhealthy cluster", trouble::not_now},
    {"not capable", trouble::unexpected},
    {"leader changed", trouble::unknown},
    {"timed out", trouble::unknown},
    {"server stopped", trouble::unknown},
};

// The codes of gRPC that leave open what happened.
bool is_open_ended(int code) {
  constexpr int cancelled = 1, deadline_exceeded = 4, aborted = 10, unavailable = 14;
  return code == cancelled || code == deadline_exceeded || code == aborted || code == unavailable;
}

std::string_view remedy_for(trouble t) {
  switch (t) {
    case trouble::needs_login: return ": name a user, as etcd://user:password@...";
    case trouble::no_rights: return ": name a user who may read and write below lockmark/";
    case trouble::out_of_space:
      return ": compact and defragment it, or raise --quota-backend-bytes; then etcdctl alarm "
             "disarm";
    default: return "";
  }
}

}  // namespace

trouble judge_status(int code, std::string_view message) {
  if (code == 0) return trouble::none;
  for (const known_error& known : known_errors) {
    if (message.find(known.words) != message.npos) return known.means;
  }
  return is_open_ended(code) ? trouble::unknown : trouble::unexpected;
}

std::string words_of(int code, std::string_view message) {
  constexpr std::string_view prefix = "etcdserver: ";
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  std::string text{message.substr(0, longest_quote)};
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  const bool is_known = judge_status(code, message) != trouble::unexpected && !text.empty();
  if (is_known) return text;
  return text.empty() ? fmt::format("code {}", code) : fmt::format("code {}: {}", code, text);
}

std::string complaint_about(trouble t, std::string_view request, int code,
                            std::string_view message) {
  if (t == trouble::bad_login) {
    return fmt::format("refused the login: {}", words_of(code, message));
  }
  return fmt::format("answered {} with an error: {}{}", request, words_of(code, message),
                     remedy_for(t));
}

}  // namespace lockmark::etcd
