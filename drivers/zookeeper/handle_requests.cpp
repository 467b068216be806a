// The requests of a handle: each is a call of the C client, whose callback fills in the reply.
#include <fmt/format.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <utility>

#include "drivers/zookeeper/handle.hpp"

namespace lockmark::zookeeper {
namespace {

status status_of(int code) {
  switch (code) {
    case ZOK: return status::ok;
    case ZNONODE: return status::no_node;
    case ZNODEEXISTS: return status::node_exists;
    case ZNOTEMPTY: return status::not_empty;
    case ZNOAUTH: return status::no_rights;
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZRUNTIMEINCONSISTENCY:  // the library hangs up on a reply that it does not expect
      return status::connection_lost;
    case ZSESSIONEXPIRED:
    case ZAUTHFAILED:
    case ZINVALIDSTATE:
    case ZCLOSING: return status::session_over;
    default: return status::rejected;
  }
}

int mode_of(node_kind kind) {
  switch (kind) {
    case node_kind::persistent: return ZOO_PERSISTENT;
    case node_kind::container: return ZOO_CONTAINER;
    case node_kind::ephemeral: return ZOO_EPHEMERAL;
    case node_kind::ephemeral_sequential: return ZOO_EPHEMERAL_SEQUENTIAL;
  }
  return ZOO_PERSISTENT;
}

}  // namespace

std::string describe_failure(const reply& r) {
  return r.ended == status::silent ? "no answer in time" : zerror(r.code);
}

// A request in flight, owned by the calling coroutine and until the callback by the handle: so a
// reply after the deadline still finds its call.
struct handle::call {
  call(handle& h, body b, std::shared_ptr<node_watch> w)
      : owner(h), awaited(b), watch(std::move(w)), answered(h.loop_) {}
  handle& owner;
  const body awaited;
  const std::shared_ptr<node_watch> watch;
  signal answered;
  reply result;
};

// Called by the library.
struct handle::callbacks {
  static call* to_call(const void* data) { return static_cast<call*>(const_cast<void*>(data)); }

  static void on_nothing(int code, const void* data) {
    call* c = to_call(data);
    c->owner.answered(c, code);
  }

  static void on_forgotten(int code, const void* data) {
    call* c = to_call(data);
    c->owner.watches_.erase(c->watch.get());
    c->owner.answered(c, code);
  }

  static void on_text(int code, const char* text, const void* data) {
    call* c = to_call(data);
    if (code == ZOK && text != nullptr) c->result.text = text;
    c->owner.answered(c, code);
  }

  static void on_created(int code, const char* path, const Stat* stat, const void* data) {
    call* c = to_call(data);
    if (code == ZOK && stat != nullptr) c->result.czxid = stat->czxid;
    on_text(code, path, data);
  }

  static void on_stat(int code, const Stat* stat, const void* data) {
    call* c = to_call(data);
    if (code == ZOK && stat != nullptr) c->result.czxid = stat->czxid;
    c->owner.answered(c, code);
  }

  // The library knows the watch only after the reply; from then on it may call on_node_event.
  static void keep_watch(call* c) {
    if (c->watch) c->owner.watches_.emplace(c->watch.get(), c->watch);
  }

  // The watch is also set on a missing node, and fires when the node is created.
  static void on_existence(int code, const Stat* stat, const void* data) {
    if (code == ZOK || code == ZNONODE) keep_watch(to_call(data));
    on_stat(code, stat, data);
  }

  static void on_data(int code, const char* value, int size, const Stat* stat, const void* data) {
    call* c = to_call(data);
    if (code == ZOK) keep_watch(c);
    if (code == ZOK && size > 0) c->result.text.assign(value, static_cast<std::size_t>(size));
    on_stat(code, stat, data);
  }

  static void on_names(int code, const String_vector* names, const void* data) {
    call* c = to_call(data);
    if (code == ZOK) keep_watch(c);
    if (code == ZOK && names != nullptr)
      c->result.names.assign(names->data, names->data + names->count);
    c->owner.answered(c, code);
  }

  static void on_node_event(zhandle_t* zk, int type, int /*state*/, const char* /*path*/,
                            void* watch) {
    if (type == ZOO_SESSION_EVENT) return;  // the watch is still set
    auto* const self = static_cast<handle*>(const_cast<void*>(zoo_get_context(zk)));
    const auto found = self->watches_.find(static_cast<node_watch*>(watch));
    if (found == self->watches_.end()) return;
    const bool awaited = found->second.use_count() > 1;
    if (awaited) ++self->sent_.wakeups;
    found->second->fired.set();
    self->watches_.erase(found);
  }

  static watcher_fn on_event_for(const call* c) { return c->watch ? on_node_event : nullptr; }
};

std::optional<body> handle::next_awaited() const {
  if (asked_.empty()) return std::nullopt;
  return asked_.front()->awaited;
}

// `how` makes the library's request and returns its code.
template <class How>
task<reply> handle::ask(body awaited, std::shared_ptr<node_watch> w, time_point deadline, How how) {
  ++sent_.commands;
  const auto c = std::make_shared<call>(*this, awaited, std::move(w));
  asked_.push_back(c);
  return finish(c, zk_ == nullptr ? ZINVALIDSTATE : how(c.get()), deadline);
}

void handle::answered(call* c, int code) {
  const auto is_it = [c](const auto& each) { return each.get() == c; };
  const auto at = std::ranges::find_if(asked_, is_it);  // nearly always the first
  const std::shared_ptr<call> kept = std::move(*at);
  asked_.erase(at);
  c->result.code = code;
  c->result.ended = status_of(code);
  c->answered.set();
}

// `queued` is the library's return code for the request; a failed send is called back later.
task<reply> handle::finish(std::shared_ptr<call> c, int queued, time_point deadline) {
  if (queued != ZOK) answered(c.get(), queued);
  notice_failed_send();
  ++sent_.round_trips;
  push(duplicate_);
  reply result;
  if (co_await c->answered.wait_until(deadline))
    result = std::move(c->result);
  else
    result.ended = status::silent;
  if (!nonsense_.empty()) throw no_server(nonsense_);
  co_return result;
}

task<reply> handle::create(const std::string& path, const std::string& data, node_kind kind,
                           time_point deadline) {
  const ACL_vector* rights =
      has_login_ && path != open_path_ ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
  return ask(body::path_and_stat, nullptr, deadline, [&](call* c) {
    return zoo_acreate2(zk_, path.c_str(), data.data(), static_cast<int>(data.size()), rights,
                        mode_of(kind), callbacks::on_created, c);
  });
}

task<reply> handle::get(const std::string& path, std::shared_ptr<node_watch> w,
                        time_point deadline) {
  return ask(body::data_and_stat, std::move(w), deadline, [&](call* c) {
    return zoo_awget(zk_, path.c_str(), callbacks::on_event_for(c), c->watch.get(),
                     callbacks::on_data, c);
  });
}

task<reply> handle::children(const std::string& path, std::shared_ptr<node_watch> w,
                             time_point deadline) {
  return ask(body::names, std::move(w), deadline, [&](call* c) {
    return zoo_awget_children(zk_, path.c_str(), callbacks::on_event_for(c), c->watch.get(),
                              callbacks::on_names, c);
  });
}

task<reply> handle::exists(const std::string& path, std::shared_ptr<node_watch> w,
                           time_point deadline) {
  return ask(body::stat, std::move(w), deadline, [&](call* c) {
    return zoo_awexists(zk_, path.c_str(), callbacks::on_event_for(c), c->watch.get(),
                        callbacks::on_existence, c);
  });
}

task<reply> handle::remove(const std::string& path, time_point deadline) {
  return ask(body::nothing, nullptr, deadline,
             [&](call* c) { return zoo_adelete(zk_, path.c_str(), -1, callbacks::on_nothing, c); });
}

// The header has a pointer to a pointer for the callback, and the library takes the pointer.
void handle::forget(const std::string& path, std::shared_ptr<node_watch> w) {
  if (zk_ == nullptr) return;
  const auto c = std::make_shared<call>(*this, body::nothing, std::move(w));
  asked_.push_back(c);
  const auto then = reinterpret_cast<void_completion_t*>(callbacks::on_forgotten);
  const int queued =
      zoo_aremove_watches(zk_, path.c_str(), ZWATCHTYPE_ANY, callbacks::on_node_event,
                          c->watch.get(), 0, then, c.get());
  if (queued == ZOK) ++sent_.commands;
  if (queued != ZOK) answered(c.get(), queued);
  notice_failed_send();
  push(duplicate_);
}

task<reply> handle::sync(const std::string& path, time_point deadline) {
  return ask(body::path, nullptr, deadline,
             [&](call* c) { return zoo_async(zk_, path.c_str(), callbacks::on_text, c); });
}

}  // namespace lockmark::zookeeper
