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

task<void> create_one(std::shared_ptr<handle> zk, std::string path, node_kind kind,
                      time_point deadline, reply* worst) {
  if (!worst->ok()) co_return;
  reply created = co_await zk->create(path, "", kind, deadline);
  if (!created.ok() && created.ended != status::node_exists) *worst = std::move(created);
}

task<void> delete_one(loop& l, std::shared_ptr<handle> zk, std::string path, time_point deadline,
                      reply* worst) {
  if (!worst->ok()) co_return;
  reply inside = co_await zk->children(path, nullptr, deadline);
  if (inside.ended == status::no_node) co_return;
  std::function<task<void>(std::size_t)> child = [&](std::size_t i) {
    return delete_one(l, zk, path + '/' + inside.names[i], deadline, worst);
  };
  co_await in_lanes(l, inside.names.size(), requests_at_once, std::move(child));
  reply deleted = co_await zk->remove(path, deadline);
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
