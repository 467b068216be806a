#include "drivers/etcd/messages.hpp"

#include <climits>
#include <utility>

#include "etcd.pb.h"

namespace lockmark::etcd {
namespace {

template <class Message>
std::optional<Message> read_as(std::string_view bytes) {
  Message message;
  if (bytes.size() > INT_MAX) return std::nullopt;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  return message;
}

std::string text(std::string_view bytes) {
  return std::string{bytes};
}

void look_for(wire::RangeRequest& range, std::string_view prefix,
              wire::RangeRequest::SortTarget target, wire::RangeRequest::SortOrder order) {
  range.set_key(text(prefix));
  range.set_range_end(end_of(prefix));
  range.set_sort_target(target);
  range.set_sort_order(order);
  range.set_limit(1);
}

void put(wire::RequestOp& op, std::string_view key, lease_id lease) {
  op.mutable_request_put()->set_key(text(key));
  op.mutable_request_put()->set_lease(lease);
}

std::string range_of_one(std::string_view prefix, wire::RangeRequest::SortTarget target,
                         revision latest) {
  wire::RangeRequest range;
  look_for(range, prefix, target, wire::RangeRequest::DESCEND);
  if (target == wire::RangeRequest::CREATE) {
    range.set_max_create_revision(latest);
  } else {
    range.set_max_mod_revision(latest);
  }
  return range.SerializeAsString();
}

std::string delete_of(std::string_view key, std::string end) {
  wire::DeleteRangeRequest all;
  all.set_key(text(key));
  all.set_range_end(std::move(end));
  return all.SerializeAsString();
}

}  // namespace

std::string end_of(std::string_view prefix) {
  std::string end{prefix};
  ++end.back();
  return end;
}

std::string enrol_request(std::string_view key, std::string_view prefix, lease_id lease) {
  wire::TxnRequest txn;
  wire::Compare& is_new = *txn.add_compare();
  is_new.set_target(wire::Compare::CREATE);
  is_new.set_result(wire::Compare::EQUAL);
  is_new.set_key(text(key));
  is_new.set_create_revision(0);
  put(*txn.add_success(), key, lease);
  txn.add_failure()->mutable_request_range()->set_key(text(key));
  for (wire::RequestOp* const op : {txn.add_success(), txn.add_failure()}) {
    look_for(*op->mutable_request_range(), prefix, wire::RangeRequest::CREATE,
             wire::RangeRequest::ASCEND);
  }
  return txn.SerializeAsString();
}

std::optional<enrolled> read_enrolled(std::string_view reply) {
  const auto txn = read_as<wire::TxnResponse>(reply);
  if (!txn || txn->responses_size() != 2) return std::nullopt;
  enrolled result{txn->header().revision(), 0};
  if (txn->succeeded()) {
    if (!txn->responses(0).has_response_put()) return std::nullopt;
  } else {
    const auto& mine = txn->responses(0).response_range();
    if (mine.kvs_size() != 1) return std::nullopt;
    result.mine = mine.kvs(0).create_revision();
  }
  if (!txn->responses(1).has_response_range() || result.mine <= 0) return std::nullopt;
  const auto& first = txn->responses(1).response_range();
  if (first.kvs_size() > 0) result.first = first.kvs(0).create_revision();
  return result;
}

std::string create_request(std::string_view key, lease_id lease) {
  wire::TxnRequest txn;
  wire::Compare& is_new = *txn.add_compare();
  is_new.set_target(wire::Compare::VERSION);
  is_new.set_result(wire::Compare::EQUAL);
  is_new.set_key(text(key));
  is_new.set_version(0);
  put(*txn.add_success(), key, lease);
  return txn.SerializeAsString();
}

std::optional<created> read_created(std::string_view reply) {
  const auto txn = read_as<wire::TxnResponse>(reply);
  if (!txn || txn->responses_size() != (txn->succeeded() ? 1 : 0)) return std::nullopt;
  if (txn->header().revision() <= 0) return std::nullopt;
  return created{txn->succeeded(), txn->header().revision()};
}

std::string last_created_request(std::string_view prefix, revision latest) {
  return range_of_one(prefix, wire::RangeRequest::CREATE, latest);
}

std::string last_changed_request(std::string_view prefix, revision latest) {
  return range_of_one(prefix, wire::RangeRequest::MOD, latest);
}

std::string get_request(std::string_view key) {
  wire::RangeRequest range;
  range.set_key(text(key));
  return range.SerializeAsString();
}

std::string count_request(std::string_view prefix) {
  wire::RangeRequest range;
  range.set_key(text(prefix));
  range.set_range_end(end_of(prefix));
  range.set_count_only(true);
  return range.SerializeAsString();
}

std::optional<found> read_found(std::string_view reply) {
  auto range = read_as<wire::RangeResponse>(reply);
  if (!range || range->header().revision() <= 0) return std::nullopt;
  found result{.at = range->header().revision(), .count = range->count()};
  if (range->kvs_size() == 0) return result;
  const wire::KeyValue& first = range->kvs(0);
  if (first.key().empty() || first.create_revision() <= 0) return std::nullopt;
  result.key = first.key();
  result.created = first.create_revision();
  return result;
}

std::string put_request(std::string_view key, lease_id lease) {
  wire::PutRequest put_it;
  put_it.set_key(text(key));
  put_it.set_lease(lease);
  return put_it.SerializeAsString();
}

std::string delete_request(std::string_view key) {
  return delete_of(key, "");
}

std::string delete_all_request(std::string_view prefix) {
  return delete_of(prefix, end_of(prefix));
}

std::optional<std::int64_t> read_deleted(std::string_view reply) {
  const auto all = read_as<wire::DeleteRangeResponse>(reply);
  if (!all || all->deleted() < 0) return std::nullopt;
  return all->deleted();
}

std::string watch_request(std::int64_t id, std::string_view key, revision from) {
  wire::WatchRequest request;
  wire::WatchCreateRequest& watch = *request.mutable_create_request();
  watch.set_watch_id(id);
  watch.set_key(text(key));
  watch.set_start_revision(from);
  return request.SerializeAsString();
}

std::string unwatch_request(std::int64_t id) {
  wire::WatchRequest request;
  request.mutable_cancel_request()->set_watch_id(id);
  return request.SerializeAsString();
}

std::optional<watch_news> read_watch_news(std::string_view message) {
  auto response = read_as<wire::WatchResponse>(message);
  if (!response) return std::nullopt;
  watch_news news{.id = response->watch_id()};
  for (const wire::Event& event : response->events()) {
    if (event.type() == wire::Event::DELETE) news.deleted = true;
  }
  news.compacted = response->compact_revision() > 0;
  news.ended = response->canceled() || news.compacted;
  news.reason = response->cancel_reason();
  return news;
}

std::string lease_request(std::int64_t ttl_s) {
  wire::LeaseGrantRequest request;
  request.set_ttl_s(ttl_s);
  return request.SerializeAsString();
}

std::string revoke_request(lease_id lease) {
  wire::LeaseRevokeRequest request;
  request.set_id(lease);
  return request.SerializeAsString();
}

std::string keep_alive_request(lease_id lease) {
  wire::LeaseKeepAliveRequest request;
  request.set_id(lease);
  return request.SerializeAsString();
}

std::optional<lease_state> read_lease(std::string_view reply) {
  const auto response = read_as<wire::LeaseGrantResponse>(reply);
  if (!response || response->id() == 0 || response->ttl_s() <= 0) return std::nullopt;
  return lease_state{response->id(), response->ttl_s()};
}

std::optional<lease_state> read_kept_alive(std::string_view message) {
  const auto response = read_as<wire::LeaseKeepAliveResponse>(message);
  if (!response || response->id() == 0) return std::nullopt;
  return lease_state{response->id(), response->ttl_s()};
}

std::string lock_request(std::string_view name, lease_id lease) {
  wire::LockRequest request;
  request.set_name(text(name));
  request.set_lease(lease);
  return request.SerializeAsString();
}

std::string unlock_request(std::string_view key) {
  wire::UnlockRequest request;
  request.set_key(text(key));
  return request.SerializeAsString();
}

std::optional<locked> read_locked(std::string_view reply) {
  const auto response = read_as<wire::LockResponse>(reply);
  if (!response || response->key().empty() || response->header().revision() <= 0) {
    return std::nullopt;
  }
  return locked{response->key(), response->header().revision()};
}

std::optional<member_status> read_status(std::string_view reply) {
  const auto response = read_as<wire::StatusResponse>(reply);
  if (!response || response->version().empty()) return std::nullopt;
  return member_status{response->version(), response->header().member_id(), response->leader(),
                       response->db_size(), response->db_size_in_use()};
}

std::optional<alarms> read_alarms(std::string_view reply) {
  const auto response = read_as<wire::AlarmResponse>(reply);
  if (!response) return std::nullopt;
  alarms raised;
  for (const wire::AlarmMember& one : response->alarms()) {
    if (one.alarm() == wire::AlarmMember::NOSPACE) raised.out_of_space = true;
    if (one.alarm() == wire::AlarmMember::CORRUPT) raised.corrupt = true;
  }
  return raised;
}

std::string login_request(const std::string& user, const std::string& password) {
  wire::AuthenticateRequest request;
  request.set_name(user);
  request.set_password(password);
  return request.SerializeAsString();
}

std::optional<std::string> read_token(std::string_view reply) {
  auto response = read_as<wire::AuthenticateResponse>(reply);
  if (!response || response->token().empty()) return std::nullopt;
  return response->token();
}

}  // namespace lockmark::etcd
