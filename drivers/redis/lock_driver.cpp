#include "drivers/redis/lock_driver.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace lockmark::redis {
namespace {

using kind = reply::kind;

constexpr std::size_t wipe_batch = 1000;

std::uint64_t number_of(std::string_view text) {
  std::uint64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

[[noreturn]] void refused(const target& where, std::string_view command, const reply& r) {
  throw no_server(fmt::format("{} answered {} with an error: {}", where.name(), command, r.text));
}

class redis_driver final : public driver {
 public:
  redis_driver(const driver_setup& setup, const recipe& lock) : make_session_(lock.make_session) {
    run_.where = parse_target(setup.target);
    for (const auto& key : setup.run_names.keys) {
      run_.keys.push_back(lock_key(setup.run_names.run, key));
    }
    for (const auto text : lock.scripts) run_.scripts.emplace_back(text);
    run_.options = setup.options;
  }

  task<description> prepare(loop& l, time_point deadline) override {
    traffic uncounted;
    connection c{l, run_.where, uncounted};
    const std::string info = co_await info_of(c, "server", deadline);
    const std::string mode{info_field(info, "redis_mode")};
    if (mode != "standalone") {
      throw usage_error(
          fmt::format("{} runs in {} mode; a redis:// target is one standalone master",
                      run_.where.name(), mode));
    }
    const std::string replication = co_await info_of(c, "replication", deadline);
    const std::string role{info_field(replication, "role")};
    if (role != "master") {
      throw usage_error(fmt::format("{} is a replica of {}; locks need its master",
                                    run_.where.name(), info_field(replication, "master_host")));
    }
    description about{{"server.version", std::string{info_field(info, "redis_version")}},
                      {"server.mode", mode},
                      {"server.role", role}};
    for (const char* setting : {"appendonly", "appendfsync", "save", "maxmemory-policy"}) {
      const reply r = co_await c.demand(deadline, "CONFIG", "GET", setting);
      const bool known = r.is(kind::array) && r.parts.size() == 2;
      about.emplace_back(fmt::format("server.{}", setting), known ? r.parts[1].text : "unknown");
    }
    co_await load_scripts(c, deadline);
    co_return about;
  }

  task<void> wipe(loop& l, time_point deadline) override {
    traffic uncounted;
    connection c{l, run_.where, uncounted};
    co_await remove(c, run_.keys, deadline);
    const std::vector<std::string> left = run_.left.take();
    co_await remove(c, left, deadline);
  }

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    std::unique_ptr<lock_session> s = make_session_(l, run_, who);
    co_await s->connect(deadline);
    co_return s;
  }

  task<server_counters> counters(loop& l, time_point deadline) override {
    traffic uncounted;
    connection c{l, run_.where, uncounted};
    const std::string commandstats = co_await info_of(c, "commandstats", deadline);
    const std::string stats = co_await info_of(c, "stats", deadline);
    co_return parse_counters(commandstats, stats);
  }

  task<std::uint64_t> commits(loop&, std::uint32_t, time_point) override {
    throw std::logic_error("commits() was called on a lock that is not optimistic");
    co_return 0;
  }

 private:
  task<std::string> info_of(connection& c, const char* section, time_point deadline) {
    const reply r = co_await c.demand(deadline, "INFO", section);
    if (r.is(kind::error)) refused(run_.where, "INFO", r);
    co_return r.text;
  }

  task<void> load_scripts(connection& c, time_point deadline) {
    for (const script& s : run_.scripts) {
      const reply r = co_await c.demand(deadline, "SCRIPT", "LOAD", s.text);
      if (r.is(kind::error)) refused(run_.where, "SCRIPT LOAD", r);
    }
  }

  task<void> remove(connection& c, const std::vector<std::string>& keys, time_point deadline) {
    for (std::size_t from = 0; from < keys.size(); from += wipe_batch) {
      const std::size_t until = std::min(keys.size(), from + wipe_batch);
      std::vector<argument> batch{argument{"DEL"}};
      for (std::size_t i = from; i < until; ++i) batch.emplace_back(keys[i]);
      const reply r = co_await c.demand_all(deadline, batch);
      if (r.is(kind::error)) refused(run_.where, "DEL", r);
    }
  }

  run_data run_;
  std::unique_ptr<lock_session> (*make_session_)(loop&, run_data&, const instance&);
};

}  // namespace

std::unique_ptr<driver> make_driver(const driver_setup& setup, const recipe& lock) {
  return std::make_unique<redis_driver>(setup, lock);
}

std::string_view info_field(std::string_view info, std::string_view name) {
  while (!info.empty()) {
    const auto end = std::min(info.find("\r\n"), info.size());
    const std::string_view line = info.substr(0, end);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
      return line.substr(name.size() + 1);
    }
    info.remove_prefix(std::min(info.size(), end + 2));
  }
  return {};
}

server_counters parse_counters(std::string_view commandstats, std::string_view stats) {
  constexpr std::string_view prefix = "cmdstat_";
  constexpr std::string_view calls = ":calls=";
  server_counters all;
  all["commands"] = number_of(info_field(stats, "total_commands_processed"));
  while (!commandstats.empty()) {
    const auto end = std::min(commandstats.find("\r\n"), commandstats.size());
    const std::string_view line = commandstats.substr(0, end);
    const auto at = line.find(calls);
    if (line.starts_with(prefix) && at != line.npos) {
      const auto name = line.substr(prefix.size(), at - prefix.size());
      all["cmd." + std::string{name}] = number_of(line.substr(at + calls.size()));
    }
    commandstats.remove_prefix(std::min(commandstats.size(), end + 2));
  }
  return all;
}

}  // namespace lockmark::redis
