#include "drivers/zookeeper/tree.hpp"

#include <functional>
#include <utility>

#include "harness/async/lanes.hpp"

namespace lockmark::zookeeper {
namespace {

constexpr std::size_t requests_at_once = 256;

reply all_is_well() {
  reply r{};
  r.ended = status::ok;
  return r;
}

// A request that is lost with its connection is sent again on the next one, which all requests here
// allow: to create what exists already, and to remove what is gone, is to have succeeded.
task<reply> until_answered(std::shared_ptr<handle> zk, time_point deadline,
                           std::function<task<reply>()> send) {
  reply last = co_await send();
  while (last.ended == status::connection_lost) {
    const bool connected = co_await zk->connected_by(deadline);
    if (!connected) break;
    last = co_await send();
  }
  co_return last;
}

task<void> create_one(std::shared_ptr<handle> zk, std::string path, node_kind kind,
                      time_point deadline, reply* worst) {
  if (!worst->ok()) co_return;
  std::function<task<reply>()> send = [&] { return zk->create(path, "", kind, deadline); };
  reply created = co_await until_answered(zk, deadline, std::move(send));
  if (!created.ok() && created.ended != status::node_exists) *worst = std::move(created);
}

task<void> delete_one(loop& l, std::shared_ptr<handle> zk, std::string path, time_point deadline,
                      reply* worst) {
  if (!worst->ok()) co_return;
  std::function<task<reply>()> list = [&] { return zk->children(path, nullptr, deadline); };
  reply inside = co_await until_answered(zk, deadline, std::move(list));
  if (inside.ended == status::no_node) co_return;
  std::function<task<void>(std::size_t)> child = [&](std::size_t i) {
    return delete_one(l, zk, path + '/' + inside.names[i], deadline, worst);
  };
  co_await in_lanes(l, inside.names.size(), requests_at_once, std::move(child));
  std::function<task<reply>()> remove = [&] { return zk->remove(path, deadline); };
  reply deleted = co_await until_answered(zk, deadline, std::move(remove));
  if (!deleted.ok() && deleted.ended != status::no_node) *worst = std::move(deleted);
}

}  // namespace

task<reply> create_all(loop& l, std::shared_ptr<handle> zk, std::vector<std::string> paths,
                       node_kind kind, time_point deadline) {
  reply worst = all_is_well();
  std::function<task<void>(std::size_t)> one = [&](std::size_t i) {
    return create_one(zk, paths[i], kind, deadline, &worst);
  };
  co_await in_lanes(l, paths.size(), requests_at_once, std::move(one));
  co_return worst;
}

task<reply> delete_tree(loop& l, std::shared_ptr<handle> zk, std::string path,
                        time_point deadline) {
  constexpr int attempts = 3;  // a client in doubt may still add a node
  reply worst = all_is_well();
  for (int attempt = 0; attempt < attempts; ++attempt) {
    worst = all_is_well();
    co_await delete_one(l, zk, path, deadline, &worst);
    if (worst.ended != status::not_empty) break;
  }
  co_return worst;
}

}  // namespace lockmark::zookeeper
