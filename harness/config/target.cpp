#include "harness/config/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "harness/base/lists.hpp"
#include "harness/base/redact.hpp"
#include "harness/config/scheme.hpp"

namespace lockmark::config {
namespace {

// Schemes without TLS first, then those with it.
std::string known_schemes() {
  std::vector<std::string> plain, secure;
  for (const scheme& known : schemes()) (known.tls ? secure : plain).emplace_back(known.name);
  return joined(plain) + (secure.empty() ? "" : "; with TLS: " + joined(secure));
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool all_of(std::string_view text, std::string_view also_allowed) {
  return std::all_of(text.begin(), text.end(), [also_allowed](char c) {
    return is_letter_or_digit(c) || also_allowed.find(c) != std::string_view::npos;
  });
}

// Cuts `text` at the first `mark` and returns what follows it; nothing if there is no mark.
std::optional<std::string_view> cut_at(std::string_view& text, char mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text.substr(at + 1);
  text = text.substr(0, at);
  return behind;
}

// Nothing if a '%' is not followed by two hexadecimal digits, or encodes NUL, which no server's
// protocol would carry intact.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned code = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const char* end = digits.data() + digits.size();
    const auto [stop, status] = std::from_chars(digits.data(), end, code, 16);
    if (digits.size() != 2 || status != std::errc{} || stop != end || code == 0)
      return std::nullopt;
    plain += static_cast<char>(code);
    i += 2;
  }
  return plain;
}

std::string percent_encoded(std::string_view plain, std::string_view also_allowed) {
  std::string text;
  for (const char c : plain) {
    const bool kept = is_letter_or_digit(c) || also_allowed.find(c) != std::string_view::npos;
    text += kept ? std::string{c} : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

constexpr std::string_view unreserved = "-._~";

problem bad_percent(std::string_view part) {
  return {fmt::format("has a '%' in its {} that is not followed by two hexadecimal digits", part)};
}

// Reads one URL; each step fills in its part of the result or returns the problem.
class target_parser {
 public:
  using outcome = std::optional<problem>;

  explicit target_parser(const scheme& rule) : rule_(rule) {
    result_.scheme = rule.name;
    result_.tls.on = rule.tls;
  }

  // `rest` is what follows "scheme://".
  parsed<target> parse(std::string_view rest) {
    const auto query = cut_at(rest, '?');
    const auto path = cut_at(rest, '/');
    const std::string_view behind{query.value_or("")};
    if (behind.find('@') != std::string_view::npos ||
        path.value_or("").find('@') != std::string_view::npos) {
      return problem{
          "has an '@' behind its hosts; write '/', '?' and '@' in a user, password, path "
          "or query as %2F, %3F and %40"};
    }
    if (auto wrong = read_authority(rest)) return *wrong;
    if (auto wrong = read_path(path)) return *wrong;
    if (auto wrong = read_query(query)) return *wrong;
    if (auto wrong = read_access(result_)) return *wrong;
    return std::move(result_);
  }

  outcome read_query(std::optional<std::string_view> query) {
    while (query && !query->empty()) {
      std::string_view pair = *query;
      query = cut_at(pair, '&');
      const auto value = cut_at(pair, '=');
      if (!value || pair.empty()) return problem{"has a query that is not ?name=value&name=value"};
      const auto name = percent_decoded(pair);
      const auto plain = percent_decoded(*value);
      if (!name || !plain) return bad_percent("query");
      if (!result_.query.emplace(*name, *plain).second) {
        return problem{"has the same name twice in its query"};
      }
    }
    return std::nullopt;
  }

  target take() { return std::move(result_); }

 private:
  outcome read_authority(std::string_view authority) {
    const auto at = authority.rfind('@');
    if (at != std::string_view::npos) {
      if (auto wrong = read_user(authority.substr(0, at))) return wrong;
      authority.remove_prefix(at + 1);
    }
    std::optional<std::string_view> more = authority;
    while (more) {
      std::string_view one = *more;
      more = cut_at(one, ',');
      if (auto wrong = read_host(one)) return wrong;
    }
    if (result_.hosts.size() > 1 && !rule_.many_hosts) {
      return problem{fmt::format("has several hosts; expected {}", rule_.usage)};
    }
    return std::nullopt;
  }

  outcome read_user(std::string_view user) {
    const auto password = cut_at(user, ':');
    const auto plain_user = percent_decoded(user);
    const auto plain_password = percent_decoded(password.value_or(""));
    if (!plain_user || !plain_password) return bad_percent("user or password");
    result_.user = *plain_user;
    result_.password = *plain_password;
    return std::nullopt;
  }

  outcome read_host(std::string_view text) {
    const std::string which = fmt::format("host {}", result_.hosts.size() + 1);
    const bool bracketed = text.starts_with('[');
    std::string_view port_part;
    std::string_view host = text;
    if (bracketed) {
      const auto close = text.find(']');
      if (close == std::string_view::npos) {
        return problem{fmt::format("has no ']' after the address of {}", which)};
      }
      host = text.substr(1, close - 1);
      port_part = text.substr(close + 1);
    } else if (const auto colon = text.find(':'); colon != std::string_view::npos) {
      host = text.substr(0, colon);
      port_part = text.substr(colon);
    }
    if (host.empty()) {
      return problem{fmt::format("has no name for {}; expected {}", which, rule_.usage)};
    }
    if (bracketed && host.find(':') == std::string_view::npos) {
      return problem{fmt::format("has no IPv6 address in the brackets of {}", which)};
    }
    if (!all_of(host, bracketed ? ":.%" : "-._")) {
      return problem{fmt::format("has a character in {} that no host name has", which)};
    }
    const auto port = read_port(port_part);
    if (!port) {
      return problem{fmt::format("has no port from 1 to 65535 after the ':' of {}{}", which,
                                 bracketed ? "" : " (an IPv6 address stands in brackets)")};
    }
    result_.hosts.push_back({std::string{host}, *port});
    return std::nullopt;
  }

  // `text` is ":6379" or empty.
  std::optional<std::uint16_t> read_port(std::string_view text) const {
    if (text.empty()) return rule_.default_port;
    std::uint16_t port = 0;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data() + 1, end, port);
    if (text.front() != ':' || status != std::errc{} || stop != end || port == 0) {
      return std::nullopt;
    }
    return port;
  }

  outcome read_path(std::optional<std::string_view> text) {
    const auto plain = percent_decoded(text.value_or(""));
    if (!plain) return bad_percent("path");
    result_.path = *plain;
    if (!path_fits()) return problem{fmt::format("has a wrong path; expected {}", rule_.usage)};
    if (rule_.path == path_rule::chroot && !plain->empty())
      result_.path = fmt::format("/{}", *plain);
    return std::nullopt;
  }

  bool path_fits() const {
    const std::string& path = result_.path;
    const bool has_slash = path.find('/') != std::string::npos;
    switch (rule_.path) {
      case path_rule::none: return path.empty();
      case path_rule::required_name: return !path.empty() && !has_slash;
      case path_rule::optional_name: return !has_slash;
      case path_rule::chroot:
        return path.empty() ||
               (path.front() != '/' && path.back() != '/' && path.find("//") == std::string::npos);
      case path_rule::database_number: break;
    }
    return path.size() <= 5 && path.find_first_not_of("0123456789") == std::string::npos;
  }

  const scheme& rule_;
  target result_;
};

parsed<target> parse_command(const scheme& rule, std::string_view command) {
  const auto first = command.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    return problem{fmt::format("has no command; expected {}", rule.usage)};
  }
  target t;
  t.scheme = rule.name;
  t.path = command.substr(first);
  return t;
}

// Targets whose servers are not on the network.
parsed<target> parse_local(const scheme& rule, std::string_view rest) {
  target_parser parser{rule};
  const auto query = cut_at(rest, '?');
  const bool needs_name = rule.form == target_form::name;
  if (needs_name && (rest.empty() || !all_of(rest, "-_.@"))) {
    return problem{fmt::format(
        "has no name of letters, digits, '-' and '_', with or without @VERSION; expected {}",
        rule.usage)};
  }
  if (!needs_name && !rest.empty()) {
    return problem{fmt::format("has something after {0}; expected {0}", rule.usage)};
  }
  if (auto wrong = parser.read_query(query)) return *wrong;
  target result = parser.take();
  result.path = rest;
  return result;
}

// Prints the parts of a target, percent-encoded; parts that contain a password of it are hidden.
class part_printer {
 public:
  explicit part_printer(const target& t) {
    for (const std::string& password : {t.password, t.sentinel_password}) {
      // Many names contain shorter ones.
      if (password.size() >= 4) passwords_.push_back(password);
    }
  }

  std::string show(std::string_view part, std::string_view also_allowed = unreserved) const {
    return guard(part, percent_encoded(part, also_allowed));
  }
  std::string show(const host_port& h) const { return guard(h.host, to_string(h)); }

 private:
  std::string guard(std::string_view part, std::string shown) const {
    for (const std::string& password : passwords_) {
      if (part.find(password) != part.npos || shown.find(password) != shown.npos) {
        return std::string(hidden);
      }
    }
    return shown;
  }

  std::vector<std::string> passwords_;
};

std::string shown_authority(const target& t, const part_printer& printer) {
  std::string text;
  // A user who percent-encodes a whole login still has a password after the colon.
  const auto colon = t.user.find(':');
  const bool has_password = !t.password.empty() || colon != std::string::npos;
  if (!t.user.empty() || has_password) {
    text = printer.show(std::string_view(t.user).substr(0, colon));
    text += has_password ? ":***@" : "@";
  }
  std::string_view separator;
  for (const host_port& h : t.hosts) {
    text += fmt::format("{}{}", separator, printer.show(h));
    separator = ",";
  }
  return text;
}

// Network targets have only known names. Of others, a value is shown only if it is plain text.
std::string shown_query(const target& t, const part_printer& printer) {
  std::string text;
  for (const auto& [name, value] : t.query) {
    const bool known = !t.hosts.empty() || all_of(value, unreserved);
    const bool secret = names_a_secret(name) || !known;
    text += fmt::format("{}{}={}", text.empty() ? '?' : '&',
                        all_of(name, unreserved) ? printer.show(name) : std::string(hidden),
                        secret ? std::string(hidden) : printer.show(value));
  }
  return text;
}

}  // namespace

parsed<target> parse_target(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view scheme = text.substr(0, colon);
  if (colon == std::string_view::npos || scheme.empty() || !all_of(scheme, "+-.")) {
    return problem{
        fmt::format("is no target: expected SCHEME://HOST, memory: or local:NAME with one "
                    "of the schemes {}",
                    known_schemes())};
  }
  const config::scheme* const rule = find_scheme(scheme);
  if (rule == nullptr) {
    return problem{fmt::format("has an unknown scheme; the known ones are {}", known_schemes())};
  }
  std::string_view rest = text.substr(colon + 1);
  if (rule->form == target_form::command) return parse_command(*rule, rest);
  const bool unprintable = std::any_of(rest.begin(), rest.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '#';
  });
  if (unprintable) return problem{"has a blank, a '#' or a control character; write it as %XX"};
  if (rule->form != target_form::network) return parse_local(*rule, rest);
  if (!rest.starts_with("//")) {
    return problem{fmt::format("has no '//' after {}:; expected {}", rule->name, rule->usage)};
  }
  return target_parser{*rule}.parse(rest.substr(2));
}

std::string to_string(const host_port& h) {
  const bool is_ipv6 = h.host.find(':') != h.host.npos;
  return fmt::format("{}{}{}:{}", is_ipv6 ? "[" : "", h.host, is_ipv6 ? "]" : "", h.port);
}

std::string target::redacted() const {
  const config::scheme* const rule = find_scheme(scheme);
  if (rule != nullptr && rule->form == target_form::command) {
    return fmt::format("{}:{}", scheme, shown_command(path));
  }
  const part_printer printer(*this);
  std::string text = scheme + ":";
  if (!hosts.empty()) text += "//" + shown_authority(*this, printer);
  const bool adds_slash = !hosts.empty() && !path.empty() && path.front() != '/';
  // "local:redis@8.0", where no login can be.
  const std::string_view allowed = hosts.empty() ? "-._~/@" : "-._~/";
  return fmt::format("{}{}{}{}", text, adds_slash ? "/" : "", printer.show(path, allowed),
                     shown_query(*this, printer));
}

}  // namespace lockmark::config
