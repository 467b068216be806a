#include "drivers/redis/target.hpp"

#include <fmt/format.h>

#include <charconv>

#include "harness/driver.hpp"

namespace lockmark::redis {
namespace {

int number_of(std::string_view digits) {
  int n = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return n;
}

std::shared_ptr<const tls_context> read_certificates(const config::tls_access& tls) {
  if (!tls.on) return nullptr;
  const tls_settings settings{.ca = tls.ca,
                              .cert = tls.cert,
                              .key = tls.key,
                              .verify = tls.verify,
                              .server_name = tls.server_name};
  try {
    return std::make_shared<tls_context>(settings);
  } catch (const std::runtime_error& wrong) {
    throw usage_error(wrong.what());
  }
}

// What all deployments of a URL have in common: everything but their hosts.
target without_hosts(const config::target& read) {
  target t;
  t.user = read.user;
  t.password = read.password;
  t.sentinel_user = read.sentinel_user;
  t.sentinel_password = read.sentinel_password;
  t.tls = read.tls;
  t.secure = read_certificates(read.tls);
  t.nat = read.nat;
  if (read.scheme.ends_with("+sentinel")) {
    t.how = target::form::sentinel;
    t.master = read.path;
  } else if (read.scheme.ends_with("+cluster")) {
    t.how = target::form::cluster;
  } else {
    t.db = number_of(read.path);
  }
  return t;
}

}  // namespace

std::string target::name() const {
  std::string text = tls.on ? "rediss" : "redis";
  if (how == form::sentinel) text += "+sentinel";
  if (how == form::cluster) text += "+cluster";
  std::string_view separator = "://";
  for (const auto& h : hosts) {
    text += fmt::format("{}{}", separator, to_string(h));
    separator = ",";
  }
  if (how == form::sentinel) text += fmt::format("/{}", master);
  if (db != 0) text += fmt::format("/{}", db);
  return text;
}

std::vector<target> parse_targets(std::string_view url) {
  const auto read = config::parse_target(url);
  if (!read) throw usage_error(fmt::format("the Redis URL {}", read.error().sentence));
  if (!read->scheme.starts_with("redis")) {
    throw usage_error(fmt::format("a {} target is none of Redis", read->scheme));
  }
  if (!read->user.empty() && read->password.empty()) {
    throw usage_error("the Redis URL has a user without a password");
  }
  target one = without_hosts(*read);
  if (!read->scheme.ends_with("+independent")) {
    one.hosts = read->hosts;
    return {one};
  }
  std::vector<target> each;
  for (const auto& h : read->hosts) {
    one.hosts = {h};
    each.push_back(one);
  }
  return each;
}

}  // namespace lockmark::redis
