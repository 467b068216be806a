// The requests that locks make and the replies that they get, as bytes and as values: what
// etcd.proto is for. Knows no connection. Nothing but messages.cpp includes protobuf.
//
// A reader gives nothing for bytes that are no reply to such a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::etcd {

using lease_id = std::int64_t;
using revision = std::int64_t;

// The end of the range of all keys that begin with `prefix`. REQUIRES: its last byte is below 0xff.
std::string end_of(std::string_view prefix);

// KV/Txn: creates `key` unless it exists, and looks for the first-created key below `prefix`.
std::string enrol_request(std::string_view key, std::string_view prefix, lease_id lease);
struct enrolled {
  revision mine = 0;   // of the key's creation, now or before
  revision first = 0;  // of the oldest key's below the prefix; 0: there is none
};
std::optional<enrolled> read_enrolled(std::string_view reply);

// KV/Txn: creates `key` if it does not exist.
std::string create_request(std::string_view key, lease_id lease);
struct created {
  bool done = false;
  revision at = 0;
};
std::optional<created> read_created(std::string_view reply);

// KV/Range: the youngest key below `prefix` that was created, or changed, no later than `latest`.
std::string last_created_request(std::string_view prefix, revision latest);
std::string last_changed_request(std::string_view prefix, revision latest);
// KV/Range: the key itself.
std::string get_request(std::string_view key);
// KV/Range: the number of keys below `prefix`.
std::string count_request(std::string_view prefix);
struct found {
  revision at = 0;  // of the store
  std::int64_t count = 0;
  std::string key{};     // the first one found; empty: none
  revision created = 0;  // of that key
};
std::optional<found> read_found(std::string_view reply);

// KV/Put, under a lease.
std::string put_request(std::string_view key, lease_id lease);

// KV/DeleteRange: one key, or all below a prefix; the reply tells how many there were.
std::string delete_request(std::string_view key);
std::string delete_all_request(std::string_view prefix);
std::optional<std::int64_t> read_deleted(std::string_view reply);

// Watch/Watch, a stream: reports the deletion of `key` since `from`.
std::string watch_request(std::int64_t id, std::string_view key, revision from);
std::string unwatch_request(std::int64_t id);
struct watch_news {
  std::int64_t id = 0;
  bool deleted = false;    // the watched key was
  bool ended = false;      // the watch
  bool compacted = false;  // for want of history
  std::string reason{};    // of the end, in the server's words
};
std::optional<watch_news> read_watch_news(std::string_view message);

// Lease/LeaseGrant and LeaseRevoke.
std::string lease_request(std::int64_t ttl_s);
std::string revoke_request(lease_id lease);
// Lease/LeaseKeepAlive, a stream.
std::string keep_alive_request(lease_id lease);
struct lease_state {
  lease_id id = 0;
  std::int64_t ttl_s = 0;  // <= 0: it has ended
};
std::optional<lease_state> read_lease(std::string_view reply);
std::optional<lease_state> read_kept_alive(std::string_view message);

// Lock/Lock and Unlock of v3lock.
std::string lock_request(std::string_view name, lease_id lease);
std::string unlock_request(std::string_view key);
struct locked {
  std::string key;
  revision at = 0;  // of the store, when it was granted
};
std::optional<locked> read_locked(std::string_view reply);

// Maintenance/Status and Alarm, whose requests are empty.
struct member_status {
  std::string version;
  std::uint64_t member = 0;
  std::uint64_t leader = 0;  // 0: none
  std::int64_t size = 0;     // of the database, in bytes
  std::int64_t in_use = 0;   // of that
};
std::optional<member_status> read_status(std::string_view reply);
struct alarms {
  bool out_of_space = false;
  bool corrupt = false;
};
std::optional<alarms> read_alarms(std::string_view reply);

// Auth/Authenticate.
std::string login_request(const std::string& user, const std::string& password);
std::optional<std::string> read_token(std::string_view reply);

}  // namespace lockmark::etcd
