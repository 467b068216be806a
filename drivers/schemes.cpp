// Every form of a target that lockmark knows.
#include "drivers/etcd/schemes.hpp"

#include <algorithm>
#include <vector>

#include "drivers/mysql/schemes.hpp"
#include "drivers/postgres/schemes.hpp"
#include "drivers/redis/schemes.hpp"
#include "drivers/zookeeper/schemes.hpp"
#include "harness/config/scheme.hpp"

namespace lockmark::config {
namespace {

constexpr std::array within_reach{
    scheme{.name = "memory", .form = target_form::bare, .usage = "memory:", .topology = "memory"},
    scheme{.name = "local", .form = target_form::name, .usage = "local:NAME"},
    scheme{.name = "exec",
           .form = target_form::command,
           .usage = "exec:COMMAND, such as exec:python3 my_lock.py",
           .topology = "exec"},
};

std::vector<scheme> collected() {
  std::vector<scheme> all;
  const auto add = [&all](const auto& some) { all.insert(all.end(), some.begin(), some.end()); };
  add(redis::schemes);
  add(zookeeper::schemes);
  add(etcd::schemes);
  add(mysql::schemes);
  add(postgres::schemes);
  add(within_reach);
  return all;
}

}  // namespace

std::span<const scheme> schemes() {
  static const std::vector<scheme> all = collected();
  return all;
}

const scheme* find_scheme(std::string_view name) {
  const auto all = schemes();
  const auto at = std::ranges::find(all, name, &scheme::name);
  return at == all.end() ? nullptr : &*at;
}

}  // namespace lockmark::config
