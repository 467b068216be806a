// Requests as etcd reads them, and replies as etcd writes them. The bytes of two of them are
// spelled out, so that the numbers of fields do not only agree with themselves.
#include "drivers/etcd/messages.hpp"

#include <gtest/gtest.h>

#include "etcd.pb.h"

namespace lockmark::etcd {
namespace {

using namespace std::string_literals;

template <class Message>
Message as(const std::string& bytes) {
  Message m;
  EXPECT_TRUE(m.ParseFromString(bytes));
  return m;
}

// Field 1 (compare): EQUAL is left out, target CREATE (2:1), key (3), create_revision 0 (5); fields
// 2 and 3: what is done if it is so, and if not.
TEST(enrol_request, is_that_of_the_go_client) {
  const std::string compare = "\x10\x01\x1a\x03p/7\x28"s + "\0"s;
  const std::string put = "\x12\x07\x0a\x03p/7\x18\x07"s;
  const std::string get = "\x0a\x05\x0a\x03p/7"s;
  const std::string first = "\x0a\x0e\x0a\x02p/\x12\x02p0\x18\x01\x28\x01\x30\x02"s;
  const auto field = [](int number, const std::string& value) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(value.size())} + value;
  };
  EXPECT_EQ(enrol_request("p/7", "p/", 7),
            field(1, compare) + field(2, put) + field(2, first) + field(3, get) + field(3, first));
}

TEST(watch_request, is_that_of_the_go_client) {
  EXPECT_EQ(watch_request(3, "p/7", 9), "\x0a\x09\x0a\x03p/7\x18\x09\x38\x03"s);
  EXPECT_EQ(unwatch_request(3), "\x12\x02\x08\x03"s);
}

TEST(requests, say_what_they_are_for) {
  const auto older = as<wire::RangeRequest>(last_created_request("p/", 5));
  EXPECT_EQ(older.key(), "p/");
  EXPECT_EQ(older.range_end(), "p0");
  EXPECT_EQ(older.sort_target(), wire::RangeRequest::CREATE);
  EXPECT_EQ(older.sort_order(), wire::RangeRequest::DESCEND);
  EXPECT_EQ(older.limit(), 1);
  EXPECT_EQ(older.max_create_revision(), 5);
  EXPECT_EQ(older.max_mod_revision(), 0);
  const auto changed = as<wire::RangeRequest>(last_changed_request("p/write", 5));
  EXPECT_EQ(changed.range_end(), "p/writf");
  EXPECT_EQ(changed.sort_target(), wire::RangeRequest::MOD);
  EXPECT_EQ(changed.max_mod_revision(), 5);
  EXPECT_EQ(as<wire::RangeRequest>(get_request("k")).range_end(), "");
  EXPECT_TRUE(as<wire::RangeRequest>(count_request("k/")).count_only());
  EXPECT_EQ(as<wire::DeleteRangeRequest>(delete_request("k")).range_end(), "");
  EXPECT_EQ(as<wire::DeleteRangeRequest>(delete_all_request("k/")).range_end(), "k0");
  EXPECT_EQ(as<wire::LeaseGrantRequest>(lease_request(4)).ttl_s(), 4);
  EXPECT_EQ(as<wire::LockRequest>(lock_request("n", 7)).lease(), 7);
  EXPECT_EQ(as<wire::AuthenticateRequest>(login_request("u", "p\xff")).password(), "p\xff");
}

wire::TxnResponse enrolled_at(std::int64_t at) {
  wire::TxnResponse txn;
  txn.mutable_header()->set_revision(at);
  txn.set_succeeded(true);
  txn.add_responses()->mutable_response_put();
  txn.add_responses()->mutable_response_range();
  return txn;
}

// A key that is new has the revision of the transaction; one that was there, its own.
TEST(read_enrolled, tells_whose_turn_it_is) {
  wire::TxnResponse txn = enrolled_at(9);
  txn.mutable_responses(1)->mutable_response_range()->add_kvs()->set_create_revision(4);
  const auto queued = read_enrolled(txn.SerializeAsString());
  ASSERT_TRUE(queued);
  EXPECT_EQ(queued->mine, 9);
  EXPECT_EQ(queued->first, 4);

  txn.set_succeeded(false);
  txn.mutable_responses(0)->mutable_response_range()->add_kvs()->set_create_revision(4);
  const auto again = read_enrolled(txn.SerializeAsString());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->mine, 4);
}

TEST(read_enrolled, refuses_other_answers) {
  EXPECT_FALSE(read_enrolled(""));
  EXPECT_FALSE(read_enrolled("\xff\xff"));
  EXPECT_FALSE(read_enrolled(enrolled_at(0).SerializeAsString()));
  wire::TxnResponse one = enrolled_at(9);
  one.mutable_responses()->RemoveLast();
  EXPECT_FALSE(read_enrolled(one.SerializeAsString()));
  wire::TxnResponse other = enrolled_at(9);
  other.set_succeeded(false);
  EXPECT_FALSE(read_enrolled(other.SerializeAsString())) << "neither created nor there";
}

TEST(read_found, is_the_first_key) {
  wire::RangeResponse range;
  EXPECT_FALSE(read_found(range.SerializeAsString())) << "a store has a revision";
  range.mutable_header()->set_revision(12);
  const auto none = read_found(range.SerializeAsString());
  ASSERT_TRUE(none);
  EXPECT_EQ(none->key, "");
  range.add_kvs()->set_key("k");
  EXPECT_FALSE(read_found(range.SerializeAsString())) << "a key has a revision";
  range.mutable_kvs(0)->set_create_revision(3);
  const auto one = read_found(range.SerializeAsString());
  ASSERT_TRUE(one);
  EXPECT_EQ(one->key, "k");
  EXPECT_EQ(one->created, 3);
  EXPECT_EQ(one->at, 12);
}

TEST(read_watch_news, tells_what_happened) {
  wire::WatchResponse w;
  w.set_watch_id(3);
  w.set_created(true);
  auto news = read_watch_news(w.SerializeAsString());
  ASSERT_TRUE(news);
  EXPECT_EQ(news->id, 3);
  EXPECT_FALSE(news->deleted || news->ended);
  w.add_events()->set_type(wire::Event::PUT);
  EXPECT_FALSE(read_watch_news(w.SerializeAsString())->deleted);
  w.add_events()->set_type(wire::Event::DELETE);
  EXPECT_TRUE(read_watch_news(w.SerializeAsString())->deleted);
  w.set_compact_revision(5);
  news = read_watch_news(w.SerializeAsString());
  EXPECT_TRUE(news->ended && news->compacted);
}

TEST(read_lease, has_an_id_and_an_end) {
  wire::LeaseGrantResponse granted;
  granted.set_id(7);
  EXPECT_FALSE(read_lease(granted.SerializeAsString()));
  granted.set_ttl_s(4);
  EXPECT_EQ(read_lease(granted.SerializeAsString())->ttl_s, 4);
  wire::LeaseKeepAliveResponse over;
  EXPECT_FALSE(read_kept_alive(over.SerializeAsString()));
  over.set_id(7);
  EXPECT_EQ(read_kept_alive(over.SerializeAsString())->ttl_s, 0);
}

TEST(read_others, take_what_they_need) {
  wire::LockResponse lock;
  lock.set_key("n/7");
  EXPECT_FALSE(read_locked(lock.SerializeAsString()));
  lock.mutable_header()->set_revision(8);
  EXPECT_EQ(read_locked(lock.SerializeAsString())->at, 8);
  wire::StatusResponse status;
  EXPECT_FALSE(read_status(status.SerializeAsString()));
  status.set_version("3.4.23");
  status.mutable_header()->set_member_id(1);
  status.set_leader(2);
  EXPECT_EQ(read_status(status.SerializeAsString())->leader, 2U);
  wire::AlarmResponse alarm;
  EXPECT_FALSE(read_alarms(alarm.SerializeAsString())->out_of_space);
  alarm.add_alarms()->set_alarm(wire::AlarmMember::NOSPACE);
  EXPECT_TRUE(read_alarms(alarm.SerializeAsString())->out_of_space);
  EXPECT_FALSE(read_token(""));
}

TEST(read_created, tells_whether_it_was_there) {
  wire::TxnResponse txn;
  txn.mutable_header()->set_revision(9);
  EXPECT_FALSE(read_created(txn.SerializeAsString())->done);
  txn.set_succeeded(true);
  EXPECT_FALSE(read_created(txn.SerializeAsString())) << "nothing was put";
  txn.add_responses()->mutable_response_put();
  EXPECT_EQ(read_created(txn.SerializeAsString())->at, 9);
}

}  // namespace
}  // namespace lockmark::etcd
