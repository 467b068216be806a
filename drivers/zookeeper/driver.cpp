#include "drivers/zookeeper/driver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "drivers/zookeeper/four_letter.hpp"
#include "drivers/zookeeper/paths.hpp"
#include "drivers/zookeeper/preflight.hpp"
#include "drivers/zookeeper/servers.hpp"
#include "drivers/zookeeper/tree.hpp"
#include "harness/base/process.hpp"

namespace lockmark::zookeeper {
namespace {

constexpr duration preset_session_timeout = std::chrono::seconds(10);
constexpr duration between_tries = std::chrono::milliseconds(100);  // an election takes a second

// 0: not a number.
std::uint32_t count_in(std::string_view text) {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  return error == std::errc{} && stop == end ? count : 0;
}

duration timeout_or_preset(duration asked) {
  return asked > duration{} ? asked : preset_session_timeout;
}

class zookeeper_driver final : public driver {
 public:
  zookeeper_driver(const driver_setup& setup, const recipe& lock)
      : where_(servers_at(setup.target)),
        lock_(lock),
        options_(setup.options),
        root_(where_.chroot + "/lockmark"),
        run_(root_ + '/' + setup.run_names.run) {
    std::vector<std::string> parts;
    if (lock.below_key != nullptr) parts = lock.below_key(options_);
    for (const std::string& key : setup.run_names.keys) {
      keys_.push_back(run_ + '/' + key);
      for (const std::string& part : parts) below_keys_.push_back(keys_.back() + '/' + part);
    }
  }

  task<description> prepare(loop& l, time_point deadline) override {
    co_await say_hello(l, deadline);
    duration granted{};
    const time_point created_by = deadline + creating_within;
    const work create = [&](std::shared_ptr<handle> zk) {
      granted = zk->session_timeout();
      return create_parents(l, std::move(zk), created_by);
    };
    co_await in_own_session(l, preset_session_timeout, create, deadline);
    co_return co_await describe(l, granted, created_by);
  }

  task<std::vector<finding>> preflight(loop& l, demand load, time_point deadline) override {
    std::vector<finding> found;
    const std::uint64_t sessions = std::uint64_t{load.instances} + 1;  // one for the driver itself
    note(&found, judge_descriptors(descriptor_limit(), descriptors_in_use(), sessions));
    const time_point soon = l.now() + (deadline - l.now()) / 4;
    co_await judge_servers(l, sessions, soon, &found);
    const duration asked = timeout_or_preset(load.session_timeout);
    const work judge = [&](std::shared_ptr<handle> zk) {
      return judge_session(l, std::move(zk), asked, deadline, &found);
    };
    co_await in_own_session(l, asked, judge, deadline);
    co_return found;
  }

  task<void> wipe(loop& l, time_point deadline) override {
    const work remove = [&](std::shared_ptr<handle> zk) {
      return delete_run(l, std::move(zk), deadline);
    };
    co_await in_own_session(l, preset_session_timeout, remove, deadline);
  }

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    session_setup setup{settings(timeout_or_preset(who.session_timeout)), keys_, options_};
    auto opened = lock_.open(l, who, std::move(setup));
    const time_point by = std::min(deadline, l.now() + who.login_within);  // one session, one login
    const bool connected = co_await opened->connect(by);
    if (connected) co_return opened;
    const std::string why = opened->last_failure();
    co_await opened->close();
    throw no_session(why);
  }

  std::uint64_t connections(const demand& d) const override { return d.instances; }

  // Sums over all servers: each counts only what it received itself.
  task<server_counters> counters(loop& l, time_point deadline) override {
    server_counters sum;
    const auto answers = co_await ask_all(l, where_.hosts, "mntr", deadline);
    for (const word_answer& answer : answers) {
      for (const auto& [name, value] : numbers_in(answer.text, "\t")) {
        constexpr std::string_view prefix = "zk_";
        sum[name.starts_with(prefix) ? name.substr(prefix.size()) : name] += value;
      }
    }
    if (const auto received = sum.find("packets_received"); received != sum.end())
      sum["commands"] = received->second;
    co_return sum;
  }

 private:
  using work = std::function<task<void>(std::shared_ptr<handle>)>;

  handle_settings settings(duration session_timeout) const {
    return {where_.host_list(), session_timeout, where_.login, root_};
  }

  no_server no_session(const std::string& why) const {
    return no_server(fmt::format("{}: no session within the time allowed: {}", where_.name(),
                                 why.empty() ? "the server does not answer" : why));
  }

  std::string complaint(const reply& r, std::string_view what) const {
    if (r.ended == status::no_rights) {
      return fmt::format(
          "{}: no right to {}: name a user who has it, as zookeeper://user:password@...",
          where_.name(), what);
    }
    return fmt::format("{}: cannot {}: {}", where_.name(), what, describe_failure(r));
  }

  void check(const reply& r, std::string_view what) const {
    if (r.ok() || r.ended == status::node_exists) return;
    const bool may_happen = r.ended == status::silent || r.ended == status::connection_lost;
    if (may_happen) throw unanswered_change(complaint(r, what));
    throw no_server(complaint(r, what));
  }

  // Runs `what` in a session of its own, and always ends that session.
  task<void> in_own_session(loop& l, duration session_timeout, work what, time_point deadline) {
    scope tasks{l};
    const auto zk = handle::open(l, tasks, settings(session_timeout));
    std::exception_ptr failure;
    try {
      const bool connected = co_await zk->connected_by(deadline);
      if (!connected) throw no_session(zk->last_failure());
      co_await what(zk);
    } catch (...) {
      failure = std::current_exception();
    }
    zk->close();
    co_await tasks.join();
    if (failure) std::rethrow_exception(failure);
  }

  // Opening a session to a dead server waits until the deadline; a four-letter word is answered or
  // refused at once. Servers that are about to elect a leader hang up, and are asked again.
  task<void> say_hello(loop& l, time_point deadline) {
    const bool alone = where_.hosts.size() == 1;
    const duration allowed = deadline - l.now();
    const time_point soon = alone ? deadline : l.now() + allowed / 4;
    const time_point elected_by = l.now() + allowed / 2;
    auto answers = co_await ask_all(l, where_.hosts, "srvr", soon);
    const auto serves = [](const word_answer& a) { return a.failure.empty(); };
    while (std::ranges::none_of(answers, serves)) {
      const bool may_be_electing = !alone && std::ranges::any_of(answers, &word_answer::hung_up);
      if (!may_be_electing || l.now() >= elected_by) {
        throw no_server(fmt::format("{}: {}", where_.name(), answers.back().failure));
      }
      co_await l.sleep_for(between_tries);
      answers = co_await ask_all(l, where_.hosts, "srvr", l.now() + allowed / 4);
    }
  }

  task<void> create_parents(loop& l, std::shared_ptr<handle> zk, time_point deadline) {
    if (!where_.chroot.empty()) {
      for (const std::string& part : with_ancestors(where_.chroot)) {
        const std::vector<std::string> alone{part};
        const reply created = co_await create_all(l, zk, alone, node_kind::persistent, deadline);
        check(created, fmt::format("create {}", part));
      }
    }
    // What was just made may be gone again: the root by the wipe of another run, and each container
    // without children by the server, which lists them once a minute and removes what it has listed
    // by name alone.
    bool stand = false;
    while (!stand) stand = co_await create_levels(l, zk, deadline);
  }

  // False if a node of an upper level was gone before the one below it was made.
  task<bool> create_levels(loop& l, std::shared_ptr<handle> zk, time_point deadline) {
    const std::string below = fmt::format("the keys of {}", run_);
    const std::vector<std::pair<std::string, std::vector<std::string>>> levels{
        {root_, {root_}}, {run_, {run_}}, {below, keys_}, {below, below_keys_}};
    for (const auto& [name, nodes] : levels) {
      const reply created = co_await create_all(l, zk, nodes, node_kind::container, deadline);
      if (created.ended == status::no_node && l.now() < deadline) co_return false;
      check(created, fmt::format("create {}", name));
    }
    co_return true;
  }

  task<void> delete_run(loop& l, std::shared_ptr<handle> zk, time_point deadline) {
    const reply deleted = co_await delete_tree(l, zk, run_, deadline);
    check(deleted, fmt::format("remove {}", run_));
    co_await zk->remove(root_, deadline);  // stays when it holds other runs
  }

  static void note(std::vector<finding>* found, std::optional<finding> f) {
    if (f) found->push_back(std::move(*f));
  }

  task<void> judge_servers(loop& l, std::uint64_t sessions, time_point deadline,
                           std::vector<finding>* found) {
    const auto answers = co_await ask_all(l, where_.hosts, "conf", deadline);
    std::vector<std::optional<std::uint64_t>> limits;
    std::vector<std::string> silent;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i].failure.empty())
        silent.push_back(fmt::format("{}:{}", where_.hosts[i].host, where_.hosts[i].port));
      const auto told = numbers_in(answers[i].text, "=");
      const auto limit = told.find("maxClientCnxns");
      limits.push_back(limit == told.end() ? std::nullopt : std::optional(limit->second));
    }
    note(found, judge_connections(limits, sessions));
    note(found, judge_silence(silent, answers.size()));
  }

  // Judges the timeout granted to a session that asks for the same as the run's sessions.
  task<void> judge_session(loop& l, std::shared_ptr<handle> zk, duration asked, time_point deadline,
                           std::vector<finding>* found) {
    note(found, judge_session_timeout(asked, zk->session_timeout()));
    const std::vector<std::string> trial{run_ + "/preflight"};
    const reply created = co_await create_all(l, zk, trial, node_kind::ephemeral, deadline);
    if (created.ok()) {
      co_await zk->remove(trial.front(), deadline);
    } else {
      found->push_back({true, complaint(created, fmt::format("create nodes in {}", run_))});
    }
  }

  task<description> describe(loop& l, duration session_timeout, time_point deadline) {
    const time_point soon = l.now() + (deadline - l.now()) / 4;
    const auto srvr = co_await ask_all(l, where_.hosts, "srvr", soon);
    const auto conf = co_await ask_all(l, where_.hosts, "conf", soon);
    // The first server that has the field decides.
    const auto known = [](const std::vector<word_answer>& answers, std::string_view separator,
                          std::string_view name) {
      for (const word_answer& answer : answers) {
        const auto fields = fields_in(answer.text, separator);
        if (const auto found = fields.find(name); found != fields.end()) return found->second;
      }
      return std::string("unknown");
    };
    std::vector<std::string> modes;
    for (const word_answer& each : srvr) modes.push_back(known({each}, ": ", "Mode"));
    const std::string version = known(srvr, ": ", "Zookeeper version");
    const auto timeout_ms = std::chrono::duration_cast<std::chrono::milliseconds>(session_timeout);
    description is{
        {"server.name", "ZooKeeper"},
        {"server.version", version.substr(0, version.find('-'))},
        {"server.mode", fmt::format("{}", fmt::join(modes, ", "))},
        // What ZooKeeper does unless it was started with forceSync=no, which it does not tell.
        {"server.durability", "each change"},
        {"zookeeper.tickTime", known(conf, "=", "tickTime")},
        {"zookeeper.minSessionTimeout", known(conf, "=", "minSessionTimeout")},
        {"zookeeper.maxSessionTimeout", known(conf, "=", "maxSessionTimeout")},
        {"zookeeper.maxClientCnxns", known(conf, "=", "maxClientCnxns")},
        {"zookeeper.grantedSessionTimeout", fmt::format("{}", timeout_ms.count())},
    };
    const auto in_ms = [&](std::string_view name) { return count_in(known(conf, "=", name)); };
    const std::uint32_t tick_ms = in_ms("tickTime");
    // By ZooKeeper's names. A server alone has no limit of silence.
    for (const auto& [name, value_ms] :
         {std::pair{"server.session_tick", tick_ms},
          std::pair{"server.session_timeout_min", in_ms("minSessionTimeout")},
          std::pair{"server.session_timeout_max", in_ms("maxSessionTimeout")},
          std::pair{"server.silence", tick_ms * in_ms("syncLimit")}}) {
      if (value_ms > 0) is.emplace_back(name, fmt::format("{}ms", value_ms));
    }
    co_return is;
  }

  const servers where_;
  const recipe lock_;
  const option_values options_;
  const std::string root_;  // <chroot>/lockmark
  const std::string run_;   // <chroot>/lockmark/<run>
  std::vector<std::string> keys_;
  std::vector<std::string> below_keys_;
};

}  // namespace

std::unique_ptr<driver> make_driver(const driver_setup& setup, const recipe& lock) {
  return std::make_unique<zookeeper_driver>(setup, lock);
}

lock_option count_option(std::string_view name, std::string_view preset, std::string_view help) {
  constexpr auto accepts = [](std::string_view v) {
    return count_in(v) >= 1 && count_in(v) <= 1000;
  };
  return {name, "a whole number from 1 to 1000", preset, help, accepts};
}

std::uint32_t count_of(const option_values& options, std::string_view name) {
  const auto found = options.find(name);
  return found == options.end() ? 1 : count_in(found->second);
}

}  // namespace lockmark::zookeeper
