// What the sessions of all Redis locks have in common: one connection per client and place, and the
// names of keys and owners. The algorithm of a lock is in the file of its name.
//
// A place is one deployment: a server, what Sentinel watches, or a Cluster. Most locks have one.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "drivers/redis/connection.hpp"

namespace lockmark::redis {

// Keys besides the locks that a session could not make sure to be gone. Shared by all threads.
class leftovers {
 public:
  void add(std::string key) {
    const std::lock_guard guard{mutex_};
    keys_.insert(std::move(key));
  }
  std::vector<std::string> take() {
    const std::lock_guard guard{mutex_};
    std::vector<std::string> all(keys_.begin(), keys_.end());
    keys_.clear();
    return all;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> keys_;
};

// How a lock uses the places of its target.
enum class spread : std::uint8_t {
  one_place,   // there must be one only
  all_places,  // each must be there
  majority,    // a minority may be missing
};

// What all sessions of a run share; it outlives them.
struct run_data {
  std::vector<target> places;  // at least one
  spread over = spread::one_place;
  std::vector<std::string> keys;  // by request::key
  std::vector<script> scripts;    // in the lock's own order
  std::map<std::string, std::string, std::less<>> options;
  leftovers left;

  // How many places may be missing.
  std::size_t expendable() const { return over == spread::majority ? (places.size() - 1) / 2 : 0; }
};

// "lockmark:<run>:<key>".
std::string lock_key(const std::string& run, const std::string& key);

// A lease as Redis takes it: whole milliseconds, never less than asked for.
constexpr std::int64_t milliseconds(duration d) {
  return std::chrono::ceil<std::chrono::milliseconds>(d).count();
}

class lock_session : public session {
 public:
  lock_session(loop& l, run_data& run, const instance& who);

  // Connects every client to every place. Throws no_server when more places than are expendable
  // cannot be reached.
  virtual task<void> connect(time_point deadline);

  task<outcome<grant>> renew(request r) override;  // for locks without a lease: never called
  bool alive() const override { return true; }     // no hold of these depends on a connection
  task<void> close() override;
  traffic sent() const override { return sent_; }

 protected:
  connection& client(const request& r, std::size_t place = 0) { return *clients_[place][r.client]; }
  std::size_t places() const { return clients_.size(); }
  const std::string& key(const request& r) const { return run_.keys[r.key]; }
  // "<instance id>:<client, from 1>", the field of Redisson's hash.
  const std::string& owner(const request& r) const { return owners_[r.client]; }

  // By which command a message is published in this deployment.
  std::string_view publish_command() const {
    return topology_[0]->shards_messages() ? "SPUBLISH" : "PUBLISH";
  }
  // Shared by all connections to a place.
  topology_cache& servers_of(std::size_t place) { return *topology_[place]; }

  // A grant asked for now lasts by the client's clock at least until here. Take it before asking.
  time_point end_of(duration lease) const { return loop_.now() + lease; }

  loop& loop_;
  run_data& run_;
  traffic sent_;

 private:
  task<void> connect_to(std::size_t place, time_point deadline, std::exception_ptr& failure);
  task<void> log_in(std::size_t place, std::size_t client, time_point deadline);

  std::vector<std::unique_ptr<topology_cache>> topology_;          // by place
  std::vector<std::vector<std::unique_ptr<connection>>> clients_;  // by place, by client
  std::vector<std::string> owners_;
  instance who_;  // until it is connected
};

// For taking back what an attempt has taken: no new attempt, so it may begin after the deadline.
inline request taking_back(request r) {
  r.deadline = r.answer_by();
  r.grace = {};
  return r;
}

// The ending of a call whose answer is `number` for done and anything else for `otherwise`.
template <class T>
outcome<T> done_if(const outcome<reply>& said, std::int64_t number, T done, refusal otherwise) {
  if (!said.done()) return said.without_value<T>();
  const reply& r = said.value();
  if (r.is(reply::kind::integer) && r.number == number) return done;
  return otherwise;
}

}  // namespace lockmark::redis
