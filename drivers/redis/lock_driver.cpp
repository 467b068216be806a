#include "drivers/redis/lock_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "drivers/redis/preflight.hpp"
#include "drivers/redis/replies.hpp"
#include "drivers/redis/watchdog.hpp"
#include "harness/async/scope.hpp"
#include "harness/base/process.hpp"

namespace lockmark::redis {
namespace {

using kind = reply::kind;

constexpr std::size_t wipe_batch = 1000;

// INFO's name for the mode of this target's servers.
std::string_view mode_of(const target& where) {
  return where.how == target::form::cluster ? "cluster" : "standalone";
}

void refuse_error(const target& where, std::string_view command, const reply& r) {
  if (r.is(kind::error)) throw no_server(answered_with_error(where.name(), command, r));
}

// The longest wait for a place that may be missing.
constexpr duration patience_for_the_expendable = std::chrono::seconds{2};

class redis_driver final : public driver {
 public:
  redis_driver(const driver_setup& setup, const recipe& lock) : recipe_(lock) {
    run_.places = parse_targets(setup.target);
    run_.over = lock.over;
    if (run_.over == spread::one_place && run_.places.size() > 1) {
      throw usage_error(
          "this lock lives in one deployment, and the Redis URL names several independent ones");
    }
    for (const auto& key : setup.run_names.keys) {
      run_.keys.push_back(lock_key(setup.run_names.run, key));
    }
    for (const auto text : lock.scripts) {
      if (!text.empty()) run_.scripts.emplace_back(text);
    }
    run_.options = setup.options;
  }

  task<description> prepare(loop& l, time_point deadline) override {
    const auto each = co_await ask_all<description>(l, deadline, &redis_driver::prepare_at);
    if (each.size() == 1) co_return each.front();
    description all;
    for (std::size_t i = 0; i < each.size(); ++i) {
      if (each[i].empty()) all.emplace_back(fmt::format("server.{}.reached", i + 1), "no");
      for (const auto& [name, value] : each[i]) {
        all.emplace_back(fmt::format("server.{}.{}", i + 1, name.substr(name.find('.') + 1)),
                         value);
      }
    }
    co_return all;
  }

  task<std::vector<finding>> preflight(loop& l, demand load, time_point deadline) override {
    connections_ = connections(load) / run_.places.size();
    const auto each =
        co_await ask_all<std::vector<finding>>(l, deadline, &redis_driver::preflight_at);
    std::vector<finding> all;
    for (const auto& here : each) all.insert(all.end(), here.begin(), here.end());
    note(all, judge_descriptors(connections(load), descriptor_limit()));
    co_return all;
  }

  std::uint64_t connections(const demand& load) const override {
    std::uint64_t each = std::uint64_t{load.clients} + recipe_.connections_beside;
    if (recipe_.watchdog_batch > 0 && watched(run_.options)) {
      each +=
          watchdog::connections_for(load.clients, batch_at(run_.places[0], recipe_.watchdog_batch));
    }
    return run_.places.size() * load.instances * each;
  }

  task<void> wipe(loop& l, time_point deadline) override {
    doomed_ = run_.left.take();
    for (const std::string& key : run_.keys) {
      doomed_.push_back(key);
      if (recipe_.beside == nullptr) continue;
      for (auto& name : recipe_.beside(key, run_.options)) doomed_.push_back(std::move(name));
    }
    co_await ask_all<nothing>(l, deadline, &redis_driver::wipe_at);
  }

  task<void> tidy(loop& l, time_point deadline) override {
    doomed_ = run_.left.take();
    if (!doomed_.empty()) co_await ask_all<nothing>(l, deadline, &redis_driver::wipe_at);
  }

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    std::unique_ptr<lock_session> s = recipe_.make_session(l, run_, who);
    co_await s->connect(deadline);
    co_return s;
  }

  task<server_counters> counters(loop& l, time_point deadline) override {
    const auto each = co_await ask_all<server_counters>(l, deadline, &redis_driver::counters_at);
    server_counters sum;
    for (const auto& here : each) {
      for (const auto& [name, count] : here) sum[name] += count;
    }
    co_return sum;
  }

 private:
  // Asks one place, over a connection of its own.
  template <class Result>
  using question = task<void> (redis_driver::*)(loop&, connection&, const target&, time_point,
                                                Result&);

  // Asks every place at once. The result of a place that cannot be reached is empty; throws
  // no_server if there are more of them than are expendable.
  template <class Result>
  task<std::vector<Result>> ask_all(loop& l, time_point deadline, question<Result> what) {
    if (run_.expendable() > 0) {
      deadline = std::min(deadline, l.now() + patience_for_the_expendable);
    }
    std::vector<Result> said(run_.places.size());
    std::vector<std::exception_ptr> failures(run_.places.size());
    scope asking{l};
    for (std::size_t i = 0; i < said.size(); ++i) {
      asking.spawn(ask(l, run_.places[i], deadline, what, said[i], failures[i]));
    }
    co_await asking.join();
    std::erase(failures, nullptr);
    if (failures.size() > run_.expendable()) std::rethrow_exception(failures.front());
    co_return said;
  }

  template <class Result>
  task<void> ask(loop& l, const target& where, time_point deadline, question<Result> what,
                 Result& said, std::exception_ptr& failure) {
    traffic uncounted;
    connection c{l, where, uncounted};
    try {
      co_await (this->*what)(l, c, where, deadline, said);
    } catch (const no_server&) {
      failure = std::current_exception();
    }
  }

  // Describes the first master; loads the scripts into each.
  task<void> prepare_at(loop& l, connection& c, const target& where, time_point deadline,
                        description& about) {
    const std::vector<target> masters = co_await c.masters(deadline);
    traffic uncounted;
    for (const target& master : masters) {
      connection one{l, master, uncounted};
      description said;
      co_await prepare_master(one, where, deadline, said);
      if (about.empty()) about = std::move(said);
    }
    if (where.how != target::form::cluster) co_return;
    about.emplace_back("server.masters", fmt::format("{}", masters.size()));
  }

  task<void> prepare_master(connection& c, const target& where, time_point deadline,
                            description& about) {
    const std::string info = co_await info_of(c, where, "server", deadline);
    const std::string mode{mode_in(info)};
    if (!mode.empty() && mode != mode_of(where)) {
      throw usage_error("{} runs in {} mode; this target needs {} mode", where.name(), mode,
                        mode_of(where));
    }
    const std::string replication = co_await info_of(c, where, "replication", deadline);
    const std::string role{info_field(replication, "role")};
    if (role != "master") {
      throw usage_error("{} is a replica of {}; locks need its master", where.name(),
                        info_field(replication, "master_host"));
    }
    const product server = product_in(info);
    about.emplace_back("server.name", server.name);
    about.emplace_back("server.version", server.version);
    about.emplace_back("server.mode", mode);
    about.emplace_back("server.role", role);
    std::map<std::string_view, std::string> set;
    for (const char* setting : {"appendonly", "appendfsync", "save", "maxmemory-policy"}) {
      const reply r = co_await c.demand(deadline, "CONFIG", "GET", setting);
      set[setting] = r.is(kind::error) ? "unknown" : setting_in(r);
      about.emplace_back(fmt::format("server.{}", setting), set[setting]);
    }
    const std::string_view survives = durability_of(set["appendonly"], set["appendfsync"]);
    if (!survives.empty()) about.emplace_back("server.durability", survives);
    co_await load_scripts(c, where, deadline);
  }

  // A login without the right to see the configuration finds nothing there.
  task<void> preflight_at(loop& l, connection& c, const target& where, time_point deadline,
                          std::vector<finding>& found) {
    const std::vector<target> masters = co_await c.masters(deadline);
    traffic uncounted;
    for (const target& master : masters) {
      connection one{l, master, uncounted};
      co_await look_at_settings(one, master, deadline, found);
    }
    const std::string& key = run_.keys.front();
    const reply set = co_await c.demand(deadline, "SET", key, "", "XX", "PX", 1);
    note(found, judge_permission(where.name(), "SET", set));
    if (run_.scripts.empty() || set.is(kind::error)) co_return;
    const reply eval = co_await c.demand(deadline, "EVAL", "return 1", 1, key);
    note(found, judge_permission(where.name(), "EVAL", eval));
  }

  static void note(std::vector<finding>& found, std::optional<finding> f) {
    if (f) found.push_back(std::move(*f));
  }

  task<void> look_at_settings(connection& c, const target& where, time_point deadline,
                              std::vector<finding>& found) {
    const std::string name = where.name();
    const std::string clients = co_await info_of(c, where, "clients", deadline);
    const reply limit = co_await c.demand(deadline, "CONFIG", "GET", "maxclients");
    note(found, judge_crowd(name, {.wanted = connections_,
                                   .limit = number_in(setting_in(limit)),
                                   .there = number_in(info_field(clients, "connected_clients"))}));
    const reply memory = co_await c.demand(deadline, "CONFIG", "GET", "maxmemory");
    const reply policy = co_await c.demand(deadline, "CONFIG", "GET", "maxmemory-policy");
    note(found, judge_eviction(name, setting_in(policy), number_in(setting_in(memory))));
  }

  task<void> wipe_at(loop&, connection& c, const target& where, time_point deadline, nothing&) {
    // In a Cluster, the keys of one command must all live on one node.
    const std::size_t size = where.how == target::form::cluster ? 1 : wipe_batch;
    for (std::size_t from = 0; from < doomed_.size(); from += size) {
      const std::size_t until = std::min(doomed_.size(), from + size);
      std::vector<argument> batch{"DEL"};
      for (std::size_t i = from; i < until; ++i) batch.emplace_back(doomed_[i]);
      const reply r = co_await c.demand(deadline, batch);
      refuse_error(where, "DEL", r);
    }
  }

  task<void> counters_at(loop& l, connection& c, const target& where, time_point deadline,
                         server_counters& counted) {
    const std::vector<target> masters = co_await c.masters(deadline);
    traffic uncounted;
    for (const target& master : masters) {
      connection one{l, master, uncounted};
      const std::string commandstats = co_await info_of(one, where, "commandstats", deadline);
      const std::string stats = co_await info_of(one, where, "stats", deadline);
      for (const auto& [name, count] : parse_counters(commandstats, stats)) counted[name] += count;
    }
  }

  task<std::string> info_of(connection& c, const target& where, const char* section,
                            time_point deadline) {
    const reply r = co_await c.demand(deadline, "INFO", section);
    refuse_error(where, "INFO", r);
    if (!r.is(kind::text)) throw no_server(answered_wrongly(where.name(), "INFO", r));
    co_return r.text;
  }

  task<void> load_scripts(connection& c, const target& where, time_point deadline) {
    for (const script& s : run_.scripts) {
      const reply r = co_await c.demand(deadline, "SCRIPT", "LOAD", s.text);
      refuse_error(where, "SCRIPT LOAD", r);
    }
  }

  run_data run_;
  const recipe recipe_;
  std::uint64_t connections_ = 0;    // that the run will open to each place
  std::vector<std::string> doomed_;  // the keys that wipe() is removing
};

}  // namespace

std::unique_ptr<driver> make_driver(const driver_setup& setup, const recipe& lock) {
  return std::make_unique<redis_driver>(setup, lock);
}

server_counters parse_counters(std::string_view commandstats, std::string_view stats) {
  constexpr std::string_view prefix = "cmdstat_";
  constexpr std::string_view calls = ":calls=";
  server_counters all;
  all["commands"] = number_in(info_field(stats, "total_commands_processed"));
  while (!commandstats.empty()) {
    const auto end = std::min(commandstats.find("\r\n"), commandstats.size());
    const std::string_view line = commandstats.substr(0, end);
    const auto at = line.find(calls);
    if (line.starts_with(prefix) && at != line.npos) {
      const auto name = line.substr(prefix.size(), at - prefix.size());
      all["cmd." + std::string{name}] = number_in(line.substr(at + calls.size()));
    }
    commandstats.remove_prefix(std::min(commandstats.size(), end + 2));
  }
  return all;
}

}  // namespace lockmark::redis
