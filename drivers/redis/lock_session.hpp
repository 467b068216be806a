// The common base of all Redis locks' sessions: one connection per client and place, and the names
// of keys and owners.
//
// A place is one deployment: a server, a master with its replicas under Sentinel, or a Cluster.
// Most locks have one.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "drivers/redis/connection.hpp"
#include "harness/async/lanes.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {

// Keys beside the locks that a session may have left behind. Shared by all threads.
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

// The use that a lock makes of its target's places.
enum class spread : std::uint8_t {
  one_place,   // exactly one
  all_places,  // all must be reachable
  majority,    // a minority may be missing
};

// Shared by all sessions of a run, and outlives them.
struct run_data {
  std::vector<target> places;  // at least one
  spread over = spread::one_place;
  std::vector<std::string> keys;  // by request::key
  std::vector<script> scripts;    // in the order of the recipe
  std::map<std::string, std::string, std::less<>> options;
  leftovers left;

  // The number of places that may be missing.
  std::size_t expendable() const { return over == spread::majority ? (places.size() - 1) / 2 : 0; }
};

// "lockmark:<run>:<key>".
inline std::string lock_key(const std::string& run, const std::string& key) {
  return "lockmark:" + run + ":" + key;
}

// A lease in Redis's unit: whole milliseconds, rounded up.
constexpr std::int64_t milliseconds(duration d) {
  return std::chrono::ceil<std::chrono::milliseconds>(d).count();
}

// The longest wait for one login to a place that may be missing.
inline constexpr duration patience_for_optional_places = std::chrono::seconds{1};

class lock_session : public session {
 public:
  lock_session(loop& l, run_data& run, const instance& who) : loop_(l), run_(run), who_(who) {
    for (const target& where : run.places) {
      topology_cache& at =
          *topology_.emplace_back(std::make_unique<topology_cache>(l, where, sent_));
      auto& here = clients_.emplace_back();
      for (std::uint32_t i = 0; i < who.clients; ++i) {
        here.push_back(std::make_unique<connection>(l, at, sent_));
      }
    }
    for (std::uint32_t i = 0; i < who.clients; ++i) {
      owners_.push_back(fmt::format("{}:{}", who.id, i + 1));
    }
  }

  // Connects every client to every place. Throws no_server if more places than are expendable
  // cannot be reached.
  virtual task<void> connect(time_point deadline) {
    if (run_.expendable() > 0) {
      who_.login_within = std::min(who_.login_within, patience_for_optional_places);
    }
    std::vector<std::exception_ptr> failures(places());
    scope connecting{loop_};
    for (std::size_t i = 0; i < places(); ++i) {
      connecting.spawn(connect_to(i, deadline, failures[i]));
    }
    co_await connecting.join();
    who_.on_login = nullptr;
    std::erase(failures, nullptr);
    if (failures.size() > run_.expendable()) std::rethrow_exception(failures.front());
  }

  task<outcome<grant>> renew(request) override {
    throw std::logic_error("renew() was called on a lock without a lease");
    co_return refusal::not_owner;
  }
  bool alive() const override { return true; }  // no hold depends on a connection
  task<void> close() override {
    for (const auto& here : clients_) {
      for (const auto& c : here) c->close();
    }
    co_return;
  }
  traffic sent() const override { return sent_; }

 protected:
  connection& client(const request& r, std::size_t place = 0) { return *clients_[place][r.client]; }
  std::size_t places() const { return clients_.size(); }
  const std::string& key(const request& r) const { return run_.keys[r.key]; }
  // "<instance id>:<client, from 1>", the field of Redisson's hash.
  const std::string& owner(const request& r) const { return owners_[r.client]; }

  // The command that publishes a message in this deployment.
  std::string_view publish_command() const {
    return topology_[0]->shards_messages() ? "SPUBLISH" : "PUBLISH";
  }
  // Shared by all connections to a place.
  topology_cache& servers_of(std::size_t place) { return *topology_[place]; }

  // The earliest end of a lease asked for now, by the client's clock. Call it before the request.
  time_point end_of(duration lease) const { return loop_.now() + lease; }

  loop& loop_;
  run_data& run_;
  traffic sent_;

 private:
  task<void> connect_to(std::size_t place, time_point deadline, std::exception_ptr& failure) {
    std::function<task<void>(std::size_t)> one = [=, this](std::size_t client) {
      return log_in(place, client, deadline);
    };
    try {
      co_await in_lanes(loop_, clients_[place].size(), who_.logins, std::move(one));
    } catch (const no_server&) {
      failure = std::current_exception();
    }
  }

  task<void> log_in(std::size_t place, std::size_t client, time_point deadline) {
    const time_point by = std::min(deadline, loop_.now() + who_.login_within);
    co_await clients_[place][client]->open(by);
    if (place == 0 && who_.on_login) who_.on_login();
  }

  std::vector<std::unique_ptr<topology_cache>> topology_;          // by place
  std::vector<std::vector<std::unique_ptr<connection>>> clients_;  // by place, by client
  std::vector<std::string> owners_;
  instance who_;  // until it is connected
};

// The request that undoes an attempt: it is no new attempt, so it may begin after the deadline.
inline request taking_back(request r) {
  r.deadline = r.answer_by();
  r.grace = {};
  return r;
}

// The outcome of a call: done if the answer is `number`, refused as `otherwise` for any other.
template <class T>
outcome<T> done_if(const outcome<reply>& said, std::int64_t number, T done, refusal otherwise) {
  if (!said.done()) return said.without_value<T>();
  const reply& r = said.value();
  if (r.is(reply::kind::integer) && r.number == number) return done;
  return otherwise;
}

}  // namespace lockmark::redis
