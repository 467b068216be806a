#include "program/catalogue.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "drivers/combined.hpp"
#include "drivers/etcd/etcd.hpp"
#include "drivers/exec/exec.hpp"
#include "drivers/faulty/faulty.hpp"
#include "drivers/memory/memory.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/postgres/postgres.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/zookeeper/zookeeper.hpp"
#include "harness/base/glob.hpp"
#include "harness/config/option.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::cli {
namespace {

constexpr std::string_view faulty_prefix = "faulty/";

template <class Kinds>
const auto& find(const Kinds& kinds, std::string_view what, std::string_view name) {
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.name == name; });
  if (found != kinds.end()) return *found;
  std::vector<std::string_view> known;
  for (const auto& k : kinds) known.push_back(k.name);
  constexpr std::size_t few = 5;
  if (known.size() <= few) {
    throw usage_error("{} \"{}\" is not known; known are {}", what, name, fmt::join(known, ", "));
  }
  throw usage_error("{} \"{}\" is not known; did you mean {}? All are shown by lockmark list", what,
                    name, config::nearest_name(name, {known.begin(), known.end()}));
}

}  // namespace

catalogue::catalogue() : workloads_{workloads::mutex(), workloads::commit()} {
  for (const auto& kinds :
       {redis::kinds(), zookeeper::kinds(), etcd::kinds(), mysql::kinds(), postgres::kinds(),
        exec::kinds(), memory::kinds(), memory::shared_kinds(), faulty::kinds()}) {
    locks_.insert(locks_.end(), kinds.begin(), kinds.end());
  }
  add_versions();
}

void catalogue::add_versions() {
  for (const lock_kind& kind : locks_) {
    if (!kind.readers.empty()) {
      with_readers_.emplace(kind.name, with_readers(kind, find(locks_, "lock", kind.readers)));
    }
    if (kind.name.starts_with(faulty_prefix)) continue;
    const std::string& name =
        faulty_names_.emplace_back(fmt::format("{}{}", faulty_prefix, kind.name));
    faulty_.push_back(faulty::version_of(kind, name));
    const auto both = with_readers_.find(kind.name);
    if (both != with_readers_.end()) {
      with_readers_.emplace(name, faulty::version_of(both->second, name));
    }
  }
}

const lock_kind& catalogue::lock(std::string_view name) const {
  const auto worse = std::ranges::find(faulty_, name, &lock_kind::name);
  return worse == faulty_.end() ? find(locks_, "lock", name) : *worse;
}

const lock_kind& catalogue::lock_for(const config::job& job) const {
  const lock_kind& named = lock(job.lock);
  if (job.read_share == 0) return named;
  const auto both = with_readers_.find(named.name);
  if (both != with_readers_.end()) return both->second;
  std::vector<std::string_view> known;
  for (const lock_kind& kind : locks_) {
    if (!kind.readers.empty()) known.push_back(kind.name);
  }
  throw usage_error("read_share: lock {} has no readers beside it; known with readers are {}",
                    named.name, fmt::join(known, ", "));
}

const workload_kind& catalogue::workload(std::string_view name) const {
  return find(workloads_, "workload", name);
}

std::string_view catalogue::natural_workload(const lock_kind& lock) const {
  return lock.has.has(feature::optimistic) ? "commit" : "mutex";
}

std::string_view catalogue::usual_lock(std::string_view form, const config::job& job) const {
  static constexpr std::array usual{"redis/lua",
                                    "redis/redisson",
                                    "redis/redlock",
                                    "redis/sharded",
                                    "redis/redisson_write",
                                    "zookeeper/sequential",
                                    "zookeeper/write",
                                    "mysql/for_update",
                                    "mysql/get_lock",
                                    "etcd/mutex",
                                    "etcd/rw",
                                    "postgres/advisory",
                                    "memory/lock",
                                    "memory/write",
                                    "exec/lock"};
  features wanted;
  if (job.reentrancy > 1) wanted = feature::reentrant;
  for (const std::string_view name : usual) {
    const auto known =
        std::ranges::find_if(locks_, [&](const lock_kind& l) { return l.name == name; });
    if (known == locks_.end() || !runs_on(*known, form)) continue;
    if (job.read_share > 0 && known->readers.empty()) continue;
    if (wanted.without(known->has).empty()) return known->name;
  }
  const std::string asked =
      job.read_share > 0 ? "readers beside it: read_share" : to_string(wanted);
  throw usage_error(
      "no usual lock on {} does what the job asks for ({}); name one "
      "with --set lock=...",
      form, asked);
}

std::string_view backend_of(std::string_view lock) {
  return lock.substr(0, lock.find('/'));
}

bool runs_on(const lock_kind& lock, std::string_view form) {
  return matches_any(lock.topologies, form);
}

std::map<std::string, std::string, std::less<>> lock_options(const lock_kind& lock,
                                                             const config::job& job) {
  std::map<std::string, std::string, std::less<>> all;
  std::vector<std::string_view> known;
  for (const lock_option& o : lock.options) {
    all[std::string(o.name)] = o.preset;
    known.push_back(o.name);
  }
  for (const auto& [name, value] : job.options) {
    const auto option = std::find_if(lock.options.begin(), lock.options.end(),
                                     [&](const lock_option& o) { return o.name == name; });
    if (option == lock.options.end()) {
      throw usage_error("options.{}: lock {} has no such option; it has {}", name, lock.name,
                        known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    }
    if (!option->accepts(value)) {
      throw usage_error("options.{}: \"{}\" is not allowed for lock {}; allowed are {}", name,
                        value, lock.name, option->values);
    }
    all[name] = value;
  }
  return all;
}

}  // namespace lockmark::cli
