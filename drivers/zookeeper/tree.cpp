#include "drivers/zookeeper/tree.hpp"

#include <algorithm>
#include <utility>

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
  reply created = co_await zk->create(path, "", kind, deadline);
  if (!created.ok() && created.ended != status::node_exists) *worst = std::move(created);
}

task<void> delete_one(loop& l, std::shared_ptr<handle> zk, std::string path, time_point deadline,
                      reply* worst);

task<void> delete_all(loop& l, std::shared_ptr<handle> zk, std::vector<std::string> paths,
                      time_point deadline, reply* worst) {
  for (std::size_t from = 0; from < paths.size() && worst->ok(); from += requests_at_once) {
    scope batch{l};
    for (std::size_t i = from; i < std::min(paths.size(), from + requests_at_once); ++i)
      batch.spawn(delete_one(l, zk, paths[i], deadline, worst));
    co_await batch.join();
  }
}

task<void> delete_one(loop& l, std::shared_ptr<handle> zk, std::string path, time_point deadline,
                      reply* worst) {
  reply inside = co_await zk->children(path, nullptr, deadline);
  if (inside.ended == status::no_node) co_return;
  for (std::string& name : inside.names) name = path + '/' + name;
  if (!inside.names.empty()) co_await delete_all(l, zk, std::move(inside.names), deadline, worst);
  reply deleted = co_await zk->remove(path, deadline);
  if (!deleted.ok() && deleted.ended != status::no_node) *worst = std::move(deleted);
}

}  // namespace

task<reply> create_all(loop& l, std::shared_ptr<handle> zk, std::vector<std::string> paths,
                       node_kind kind, time_point deadline) {
  reply worst = all_is_well();
  for (std::size_t from = 0; from < paths.size() && worst.ok(); from += requests_at_once) {
    scope batch{l};
    for (std::size_t i = from; i < std::min(paths.size(), from + requests_at_once); ++i)
      batch.spawn(create_one(zk, paths[i], kind, deadline, &worst));
    co_await batch.join();
  }
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
