#include "drivers/etcd/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <utility>

#include "drivers/etcd/metrics_page.hpp"
#include "drivers/etcd/paths.hpp"
#include "drivers/etcd/preflight.hpp"
#include "harness/base/lists.hpp"
#include "harness/base/process.hpp"

namespace lockmark::etcd {
namespace {

using namespace std::chrono_literals;

constexpr duration preset_session_timeout = 10s;
constexpr duration between_tries = 100ms;  // an election takes a second

std::uint64_t descriptors_in_use() {
  std::error_code ignored;
  const std::filesystem::directory_iterator open("/proc/self/fd", ignored);
  return static_cast<std::uint64_t>(std::distance(begin(open), end(open)));
}

duration timeout_or_preset(duration asked) {
  return asked > duration{} ? asked : preset_session_timeout;
}

bool watches_ahead(const option_values& options) {
  const auto given = options.find(watch_option().name);
  return given != options.end() && given->second == "next";
}

class etcd_driver final : public driver {
 public:
  etcd_driver(const driver_setup& setup, open_session how)
      : where_(std::make_shared<servers>(servers_at(setup.target))),
        open_(how),
        watches_ahead_(watches_ahead(setup.options)),
        run_(fmt::format("lockmark/{}/", setup.run_names.run)) {
    std::vector<std::string> keys;
    for (const std::string& key : setup.run_names.keys) keys.push_back(run_ + key);
    keys_ = std::make_shared<const std::vector<std::string>>(std::move(keys));
  }

  task<description> prepare(loop& l, time_point deadline) override {
    const bool alone = where_->hosts.size() == 1;
    const time_point soon = alone ? deadline : l.now() + (deadline - l.now()) / 4;
    const auto members = co_await ask_members(l, soon);
    const auto answers = [](const member_report& m) { return m.failure.empty(); };
    if (std::ranges::none_of(members, answers)) throw no_server(members.back().failure);
    const work look = [&](channel& to) { return read_something(l, to, deadline); };
    co_await in_own_channel(l, *where_, look, deadline);
    co_return describe(members);
  }

  task<std::vector<finding>> preflight(loop& l, demand load, time_point deadline) override {
    const time_point soon = l.now() + (deadline - l.now()) / 4;
    const auto members = co_await ask_members(l, soon);
    std::vector<finding> found_here = judge_members(where_->name(), members);
    note(&found_here,
         judge_descriptors(descriptor_limit(), descriptors_in_use(), connections(load) + 1));
    const bool fatal = std::ranges::any_of(found_here, &finding::fatal);
    const duration asked = timeout_or_preset(load.session_timeout);
    const work judge = [&](channel& to) {
      return try_a_lease(l, to, asked, deadline, &found_here);
    };
    if (!fatal) co_await in_own_channel(l, *where_, judge, deadline);
    co_return found_here;
  }

  task<void> wipe(loop& l, time_point deadline) override {
    const work remove = [&](channel& to) { return delete_run(l, to, deadline); };
    co_await in_own_channel(l, *where_, remove, deadline);
  }

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    auto opened =
        open_(l, who, {where_, keys_, timeout_or_preset(who.session_timeout), watches_ahead_});
    std::exception_ptr failure;
    try {
      co_await opened->connect(who, deadline);
    } catch (...) {
      failure = std::current_exception();
    }
    if (!failure) co_return opened;
    co_await opened->close();
    std::rethrow_exception(failure);
  }

  std::uint64_t connections(const demand& load) const override { return load.instances; }

  // Sums over all members: each counts only what it received itself.
  task<server_counters> counters(loop& l, time_point deadline) override {
    server_counters sum;
    for (const config::host_port& member : where_->hosts) {
      const metrics_page page = co_await fetch_metrics(l, *where_, member, deadline);
      for (const auto& [name, value] : counters_in(page.text)) sum[name] += value;
    }
    co_return sum;
  }

 private:
  using work = std::function<task<void>(channel&)>;

  static void note(std::vector<finding>* all, std::optional<finding> f) {
    if (f) all->push_back(std::move(*f));
  }

  // Runs `what` over a connection of its own, and always ends that one. Throws no_server.
  static task<void> in_own_channel(loop& l, const servers& where, work what, time_point deadline) {
    scope tasks{l};
    traffic uncounted;
    const auto to = channel::open(l, tasks, where, 0, uncounted);
    std::exception_ptr failure;
    try {
      const bool up = co_await to->connected_at_once(deadline);
      if (!up) throw to->unreachable();
      co_await what(*to);
    } catch (...) {
      failure = std::current_exception();
    }
    to->close();
    co_await tasks.join();
    if (failure) std::rethrow_exception(failure);
  }

  static bool may_come_yet(const answer& said) {
    return said.ended != answer::ending::silent && said.what != trouble::lease_gone;
  }

  // The reply to a call that a run cannot do without, and that may be made twice. It is made again
  // while there is no leader, or another member has to be found. Throws no_server.
  static task<std::string> demand_reply(loop& l, channel& to, std::string_view path,
                                        std::string request, time_point deadline) {
    answer said = co_await to.call(path, request, deadline);
    while (!said.ok() && may_come_yet(said) && l.now() + between_tries < deadline) {
      co_await l.sleep_for(between_tries);
      said = co_await to.call(path, request, deadline);
    }
    if (said.ok()) co_return said.body;
    const std::string_view call = path.substr(path.rfind('/') + 1);
    if (said.ended == answer::ending::answered) {
      throw no_server(fmt::format("{} cannot answer {} now: it has no leader, or is about to stop",
                                  to.name(), call));
    }
    throw no_server(fmt::format("{} did not answer {} in time", to.name(), call));
  }

  task<void> read_something(loop& l, channel& to, time_point deadline) {
    const auto reply = co_await demand_reply(l, to, range_path, count_request(run_), deadline);
    to.believed(read_found(reply), range_path);
  }

  task<void> delete_run(loop& l, channel& to, time_point deadline) {
    const auto reply =
        co_await demand_reply(l, to, delete_path, delete_all_request(run_), deadline);
    to.believed(read_deleted(reply), delete_path);
  }

  // Judges the lease granted to a session that asks for the same as the run's, and writes a key
  // under it.
  task<void> try_a_lease(loop& l, channel& to, duration asked, time_point deadline,
                         std::vector<finding>* all) {
    const std::string wanted = lease_request(whole_seconds(asked));
    const auto reply = co_await demand_reply(l, to, grant_path, wanted, deadline);
    const lease_state granted = to.believed(read_lease(reply), grant_path);
    note(all,
         judge_ttl(asked, std::chrono::seconds(std::min<std::int64_t>(granted.ttl_s, 86'400))));
    const std::string trial = put_request(run_ + "preflight", granted.id);
    co_await demand_reply(l, to, put_path, trial, deadline);
    const std::string revoke = revoke_request(granted.id);
    co_await demand_reply(l, to, revoke_path, revoke, deadline);
  }

  // --- what the members tell of themselves ---

  task<std::vector<member_report>> ask_members(loop& l, time_point deadline) {
    std::vector<member_report> all;
    for (const config::host_port& at : where_->hosts) all.push_back({config::to_string(at)});
    scope side_by_side{l};
    for (std::size_t i = 0; i < all.size(); ++i) {
      side_by_side.spawn(ask_member(l, where_->hosts[i], deadline, all[i]));
    }
    co_await side_by_side.join();
    co_return all;
  }

  task<void> ask_member(loop& l, config::host_port at, time_point deadline, member_report& told) {
    servers one = *where_;
    one.hosts = {at};
    const work ask = [&](channel& to) { return ask_status(to, deadline, &told); };
    try {
      co_await in_own_channel(l, one, ask, deadline);
    } catch (const no_server& why) {
      told.failure = why.what();
      co_return;
    }
    const metrics_page page = co_await fetch_metrics(l, one, at, deadline);
    if (told.status.version.empty()) told.status = status_on(page.text);
    told.quota = gauge_in(page.text, "etcd_server_quota_backend_bytes").value_or(0);
    told.clock_s = seconds_in(page.date);
  }

  // Where logins are asked for, only root may ask for a status; the page tells everybody.
  task<void> ask_status(channel& to, time_point deadline, member_report* told) {
    channel::exchange status{to};
    bool in_time = status.begin(status_path, "");
    if (in_time) in_time = co_await status.ended_by(deadline);
    if (!in_time) throw no_server(fmt::format("{} did not answer Status in time", to.name()));
    if (status.raw().what == trouble::no_rights) co_return;
    const answer said = status.result();
    if (!said.ok()) throw no_server(fmt::format("{} {}", to.name(), status.complaint()));
    told->status = to.believed(read_status(said.body), status_path);
    const answer alarm = co_await to.call(alarm_path, "", deadline);
    if (alarm.ok()) told->raised = to.believed(read_alarms(alarm.body), alarm_path);
  }

  static member_status status_on(std::string_view page) {
    const auto number = [&](std::string_view name) {
      return static_cast<std::int64_t>(std::min(gauge_in(page, name).value_or(0), 1e18));
    };
    member_status told;
    told.version = labelled_in(page, "etcd_server_version", "server_version");
    if (told.version.empty()) told.version = "unknown";
    told.member = 1;
    if (number("etcd_server_has_leader") > 0)
      told.leader = number("etcd_server_is_leader") > 0 ? 1 : 2;
    told.size = number("etcd_mvcc_db_total_size_in_bytes");
    told.in_use = number("etcd_mvcc_db_total_size_in_use_in_bytes");
    return told;
  }

  static description describe(const std::vector<member_report>& members) {
    const auto role = [](const member_report& m) -> std::string {
      if (!m.failure.empty()) return "unknown";
      if (m.status.leader == 0) return "no leader";
      return m.status.leader == m.status.member ? "leader" : "follower";
    };
    const auto first =
        std::ranges::find_if(members, [](const auto& m) { return m.failure.empty(); });
    return {
        {"server.name", "etcd"},
        {"server.version", first->status.version},
        {"server.mode", joined(members, role)},
        // What etcd does unless it was started with --unsafe-no-fsync, which it does not tell.
        {"server.durability", "each change"},
        {"etcd.quota_bytes", first->quota > 0 ? fmt::format("{:.0f}", first->quota) : "unknown"},
        {"etcd.database_bytes", fmt::format("{}", first->status.size)},
        {"etcd.database_bytes_in_use", fmt::format("{}", first->status.in_use)},
    };
  }

  const std::shared_ptr<const servers> where_;
  const open_session open_;
  const bool watches_ahead_;
  const std::string run_;  // "lockmark/<run>/"
  std::shared_ptr<const std::vector<std::string>> keys_;
};

}  // namespace

lock_option watch_option() {
  constexpr auto accepts = [](std::string_view v) { return v == "read" || v == "next"; };
  return {"watch_from", "read, next", "read",
          "from which revision a waiter watches: that at which it read whom to wait for, as the Go "
          "client does, which servers look into once in 100 ms; or the next one, at once",
          accepts};
}

std::unique_ptr<driver> make_driver(const driver_setup& setup, open_session open) {
  return std::make_unique<etcd_driver>(setup, open);
}

}  // namespace lockmark::etcd
