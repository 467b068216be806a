// The subscriptions of an instance: one SUBSCRIBE per channel, shared and ref-counted by the
// instance's waiters; each message wakes one of them. All use one connection, except in a Cluster
// of Redis 7: there it is SSUBSCRIBE, over one connection to each node that serves a channel.
//
// Source of the rules: Redisson's LockPubSub and PublishSubscribeService. A message without a
// waiter is kept as a permit, so that a waiter that is just asking the server does not miss it.
// After a lost connection, a change of master, or the move of a slot, every waiter is woken to ask
// again, because messages may have been lost.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "drivers/redis/link.hpp"
#include "drivers/redis/topology_cache.hpp"
#include "harness/async/scope.hpp"
#include "harness/async/signal.hpp"

namespace lockmark::redis {

class subscription {
 public:
  // `at` and `count` must outlive this.
  subscription(loop& l, topology_cache& at, traffic& count);
  ~subscription();  // REQUIRES: closed

  // Kept while there is a place in it or an answer is outstanding.
  struct channel;

  // One waiter's part in a channel. Sends nothing until confirm(); the last place of a channel
  // unsubscribes.
  class place {
   public:
    place(subscription& s, const std::string& name);
    ~place();
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    // True while every message of the channel reaches this instance.
    bool confirmed() const;
    // Subscribes (connects if necessary) and waits for the confirmation. False: the connection
    // failed, or the deadline passed. Throws no_server if the server refuses the login or the
    // channel, or does not speak as Redis does.
    task<bool> confirm(time_point deadline);
    // Waits for a message, or for the loss of the connection. False: the deadline passed first.
    task<bool> wait(time_point deadline);
    // For a woken waiter that gives up: wakes the next one instead.
    void hand_on();

   private:
    friend class subscription;
    subscription& owner_;
    channel& channel_;
    signal woken_;
  };

  // Ends the connections. REQUIRES: no place exists.
  task<void> close();

 private:
  friend class place;

  // One connection that is subscribed to channels.
  struct wire {
    enum class state : std::uint8_t { closed, connecting, connected };
    wire(loop& l, const target& where, traffic& count) : to(l, where, count) {}
    link to;
    state now = state::closed;
  };

  channel& find_or_add(const std::string& name);
  void drop_unused(channel& c);
  void ask_for(channel& c, time_point deadline);
  void subscribe_to(channel& c);
  void subscribe_to_all(wire& w);
  wire* wire_for(const channel& c);
  wire& wire_to(const host_port& at);
  task<void> run(wire& w, time_point deadline);
  void take(wire& w, const reply& r);
  void take_error(wire& w, const reply& r);
  void refuse(wire& w, const std::string& sentence);
  void forget(channel& c);
  void lose_connection(wire& w);
  void leave_servers_of_old();
  bool sharded() const { return at_.shards_messages(); }

  loop& loop_;
  topology_cache& at_;
  traffic& count_;
  scope reader_;
  bool closing_ = false;
  std::exception_ptr refused_;  // no_server: this server cannot be used
  std::vector<std::unique_ptr<wire>> wires_;
  std::map<std::string, std::unique_ptr<channel>, std::less<>> channels_;
};

}  // namespace lockmark::redis
