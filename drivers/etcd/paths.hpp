// The names of the calls that locks make, as HTTP/2 has them.
#pragma once

#include <string_view>

namespace lockmark::etcd {

inline constexpr std::string_view range_path = "/etcdserverpb.KV/Range";
inline constexpr std::string_view put_path = "/etcdserverpb.KV/Put";
inline constexpr std::string_view delete_path = "/etcdserverpb.KV/DeleteRange";
inline constexpr std::string_view txn_path = "/etcdserverpb.KV/Txn";
inline constexpr std::string_view watch_path = "/etcdserverpb.Watch/Watch";
inline constexpr std::string_view grant_path = "/etcdserverpb.Lease/LeaseGrant";
inline constexpr std::string_view revoke_path = "/etcdserverpb.Lease/LeaseRevoke";
inline constexpr std::string_view keep_alive_path = "/etcdserverpb.Lease/LeaseKeepAlive";
inline constexpr std::string_view lock_path = "/v3lockpb.Lock/Lock";
inline constexpr std::string_view unlock_path = "/v3lockpb.Lock/Unlock";
inline constexpr std::string_view status_path = "/etcdserverpb.Maintenance/Status";
inline constexpr std::string_view alarm_path = "/etcdserverpb.Maintenance/Alarm";
// The only one that is called before a connection is open.
inline constexpr std::string_view login_path = "/etcdserverpb.Auth/Authenticate";

}  // namespace lockmark::etcd
