#include "drivers/zookeeper/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "drivers/zookeeper/four_letter.hpp"
#include "drivers/zookeeper/paths.hpp"
#include "drivers/zookeeper/sequential.hpp"

namespace lockmark::zookeeper {
namespace {

constexpr duration preset_session_timeout = std::chrono::seconds(10);
constexpr std::size_t requests_at_once = 256;

class zookeeper_driver final : public driver {
 public:
  explicit zookeeper_driver(const driver_setup& setup);

  task<description> prepare(loop& l, time_point deadline) override;
  task<void> wipe(loop& l, time_point deadline) override;
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override;
  task<server_counters> counters(loop& l, time_point deadline) override;
  task<std::uint64_t> commits(loop& l, std::uint32_t key, time_point deadline) override;

 private:
  using work = task<void> (zookeeper_driver::*)(loop&, std::shared_ptr<handle>, time_point);
  task<void> in_own_session(loop& l, work what, time_point deadline);
  task<void> connected_or_throw(std::shared_ptr<handle> zk, time_point deadline);
  task<void> create_parents(loop& l, std::shared_ptr<handle> zk, time_point deadline);
  task<void> delete_run(loop& l, std::shared_ptr<handle> zk, time_point deadline);
  task<word_answer> ask_any(loop& l, std::string word, time_point deadline);
  task<description> describe(loop& l, time_point deadline);

  target where_;
  std::string root_;  // <chroot>/lockmark
  std::string run_;   // <chroot>/lockmark/<run>
  std::vector<std::string> keys_;
};

zookeeper_driver::zookeeper_driver(const driver_setup& setup)
    : where_(parse_target(setup.target)),
      root_(where_.chroot + "/lockmark"),
      run_(root_ + '/' + setup.run_names.run) {
  for (const std::string& key : setup.run_names.keys) keys_.push_back(run_ + '/' + key);
}

// Does `what` in a session of its own, and ends that session whatever happens.
task<void> zookeeper_driver::in_own_session(loop& l, work what, time_point deadline) {
  scope tasks{l};
  const auto zk =
      handle::open(l, tasks, handle_settings{where_.host_list(), preset_session_timeout});
  std::exception_ptr failure;
  try {
    co_await connected_or_throw(zk, deadline);
    co_await (this->*what)(l, zk, deadline);
  } catch (...) {
    failure = std::current_exception();
  }
  zk->close();
  co_await tasks.join();
  if (failure) std::rethrow_exception(failure);
}

task<void> zookeeper_driver::connected_or_throw(std::shared_ptr<handle> zk, time_point deadline) {
  if (co_await zk->connected_by(deadline)) co_return;
  const std::string& why = zk->last_failure();
  throw no_server(fmt::format("zookeeper://{}: no session within the time allowed: {}",
                              where_.host_list(),
                              why.empty() ? "the server does not answer" : why));
}

// Does for each of `paths` what `step` does, many at a time.
using tree_step = task<void> (*)(loop&, std::shared_ptr<handle>, std::string, time_point, reply*);

task<reply> for_each_path(loop& l, std::shared_ptr<handle> zk, std::vector<std::string> paths,
                          tree_step step, time_point deadline) {
  reply worst{};
  worst.ended = status::ok;
  for (std::size_t from = 0; from < paths.size() && worst.ok(); from += requests_at_once) {
    scope batch{l};
    for (std::size_t i = from; i < std::min(paths.size(), from + requests_at_once); ++i)
      batch.spawn(step(l, zk, paths[i], deadline, &worst));
    co_await batch.join();
  }
  co_return worst;
}

task<void> create_container(loop& /*l*/, std::shared_ptr<handle> zk, std::string path,
                            time_point deadline, reply* worst) {
  reply created = co_await zk->create(path, "", node_kind::container, deadline);
  if (!created.ok() && created.ended != status::node_exists) *worst = std::move(created);
}

task<void> delete_tree(loop& l, std::shared_ptr<handle> zk, std::string path, time_point deadline,
                       reply* worst) {
  reply inside = co_await zk->children(path, deadline);
  if (inside.ended == status::no_node) co_return;
  for (std::string& name : inside.names) name = path + '/' + name;
  if (!inside.names.empty()) {
    reply below = co_await for_each_path(l, zk, std::move(inside.names), delete_tree, deadline);
    if (!below.ok()) *worst = std::move(below);
  }
  reply deleted = co_await zk->remove(path, deadline);
  if (!deleted.ok() && deleted.ended != status::no_node) *worst = std::move(deleted);
}

void check(const reply& r, std::string_view what, const target& where) {
  if (r.ok()) return;
  throw no_server(
      fmt::format("zookeeper://{}: cannot {}: {}", where.host_list(), what, describe_failure(r)));
}

task<void> zookeeper_driver::create_parents(loop& l, std::shared_ptr<handle> zk,
                                            time_point deadline) {
  if (!where_.chroot.empty()) {
    for (const std::string& part : with_ancestors(where_.chroot)) {
      const reply created = co_await zk->create(part, "", node_kind::persistent, deadline);
      if (created.ended != status::node_exists)
        check(created, fmt::format("create {}", part), where_);
    }
  }
  const std::vector<std::string> above_keys{root_, run_};
  for (const std::string& part : above_keys) {
    const reply created = co_await zk->create(part, "", node_kind::container, deadline);
    if (created.ended != status::node_exists)
      check(created, fmt::format("create {}", part), where_);
  }
  const reply created = co_await for_each_path(l, zk, keys_, create_container, deadline);
  check(created, fmt::format("create the keys of {}", run_), where_);
}

task<void> zookeeper_driver::delete_run(loop& l, std::shared_ptr<handle> zk, time_point deadline) {
  reply worst{};
  worst.ended = status::ok;
  // A client in doubt may still add a node while the tree is taken down.
  for (int attempt = 0; attempt < 3; ++attempt) {
    worst.ended = status::ok;
    co_await delete_tree(l, zk, run_, deadline, &worst);
    if (worst.ended != status::not_empty) break;
  }
  check(worst, fmt::format("remove {}", run_), where_);
  co_await zk->remove(root_, deadline);  // stays when it holds other runs
}

task<description> zookeeper_driver::prepare(loop& l, time_point deadline) {
  const word_answer hello = co_await ask_any(l, "srvr", deadline);
  if (!hello.failure.empty())
    throw no_server(fmt::format("zookeeper://{}: {}", where_.host_list(), hello.failure));
  co_await in_own_session(l, &zookeeper_driver::create_parents, deadline);
  co_return co_await describe(l, deadline);
}

task<void> zookeeper_driver::wipe(loop& l, time_point deadline) {
  co_await in_own_session(l, &zookeeper_driver::delete_run, deadline);
}

task<std::unique_ptr<session>> zookeeper_driver::open(loop& l, instance who, time_point deadline) {
  const duration timeout =
      who.session_timeout > duration{} ? who.session_timeout : preset_session_timeout;
  auto opened =
      std::make_unique<sequential>(l, who, handle_settings{where_.host_list(), timeout}, keys_);
  if (co_await opened->connect(deadline)) co_return opened;
  const std::string why = opened->last_failure();
  co_await opened->close();
  throw no_server(fmt::format("zookeeper://{}: no session within the time allowed: {}",
                              where_.host_list(),
                              why.empty() ? "the server does not answer" : why));
}

// The first host that answers; otherwise why the last one did not.
task<word_answer> zookeeper_driver::ask_any(loop& l, std::string word, time_point deadline) {
  word_answer answer;
  for (const auto& [host, port] : where_.hosts) {
    answer = co_await ask_word(l, host, port, word, deadline);
    if (answer.failure.empty()) break;
  }
  co_return answer;
}

task<description> zookeeper_driver::describe(loop& l, time_point deadline) {
  const word_answer srvr = co_await ask_any(l, "srvr", deadline);
  const word_answer conf = co_await ask_any(l, "conf", deadline);
  const auto server = fields_in(srvr.text, ": ");
  const auto settings = fields_in(conf.text, "=");
  const auto known = [](const auto& fields, std::string_view name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string("unknown") : found->second;
  };
  const std::string version = known(server, "Zookeeper version");
  co_return description{
      {"server.name", "ZooKeeper"},
      {"server.version", version.substr(0, version.find('-'))},
      {"server.mode", known(server, "Mode")},
      {"zookeeper.tickTime", known(settings, "tickTime")},
      {"zookeeper.minSessionTimeout", known(settings, "minSessionTimeout")},
      {"zookeeper.maxSessionTimeout", known(settings, "maxSessionTimeout")},
      {"zookeeper.maxClientCnxns", known(settings, "maxClientCnxns")},
  };
}

// Sums over all servers: each counts what it was sent itself.
task<server_counters> zookeeper_driver::counters(loop& l, time_point deadline) {
  server_counters sum;
  for (const auto& [host, port] : where_.hosts) {
    const word_answer answer = co_await ask_word(l, host, port, "mntr", deadline);
    for (const auto& [name, value] : numbers_in(answer.text)) {
      constexpr std::string_view prefix = "zk_";
      sum[name.starts_with(prefix) ? name.substr(prefix.size()) : name] += value;
    }
  }
  if (const auto received = sum.find("packets_received"); received != sum.end())
    sum["commands"] = received->second;
  co_return sum;
}

task<std::uint64_t> zookeeper_driver::commits(loop& /*l*/, std::uint32_t /*key*/,
                                              time_point /*deadline*/) {
  co_return 0;
}

}  // namespace

std::unique_ptr<driver> make_driver(const driver_setup& setup) {
  return std::make_unique<zookeeper_driver>(setup);
}

}  // namespace lockmark::zookeeper
