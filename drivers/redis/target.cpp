#include "drivers/redis/target.hpp"

#include <fmt/format.h>

#include "drivers/redis/resp.hpp"
#include "harness/driver.hpp"

namespace lockmark::redis {
namespace {

std::shared_ptr<const tls_context> read_certificates(const config::tls_access& tls) {
  if (!tls.on) return nullptr;
  const tls_settings settings{tls.ca, tls.cert, tls.key, tls.verify, tls.server_name};
  try {
    return std::make_shared<tls_context>(settings);
  } catch (const std::runtime_error& wrong) {
    throw usage_error(wrong.what());
  }
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
  if (how == form::sentinel) text += fmt::format("/{}", path);
  if (db != 0) text += fmt::format("/{}", db);
  return text;
}

std::vector<target> parse_targets(std::string_view url) {
  const auto read = config::parse_target(url);
  if (!read) throw usage_error("the Redis URL {}", read.error().sentence);
  if (!read->scheme.starts_with("redis")) {
    throw usage_error("a {} target is none of Redis", read->scheme);
  }
  if (!read->user.empty() && read->password.empty()) {
    throw usage_error("the Redis URL has a user without a password");
  }
  target one{*read};
  one.secure = read_certificates(one.tls);
  if (one.scheme.ends_with("+sentinel")) {
    one.how = target::form::sentinel;
  } else if (one.scheme.ends_with("+cluster") || one.scheme.ends_with("+clusters")) {
    one.how = target::form::cluster;
  } else {
    one.db = whole_number<int>(one.path).value_or(0);
  }
  const bool many = one.scheme.ends_with("+independent") || one.scheme.ends_with("+clusters");
  if (!many) return {one};
  std::vector<target> each;
  for (const auto& h : read->hosts) {
    one.hosts = {h};
    each.push_back(one);
  }
  return each;
}

}  // namespace lockmark::redis
