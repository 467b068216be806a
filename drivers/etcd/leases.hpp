// The leases of one instance's clients, one each, and what keeps them alive: a request over one
// stream when a third of a lease has passed, as the Go client's lessor does it.
//
// The end of a lease is known here before the server comes to it: it is counted from when the last
// request was sent that the server granted.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "drivers/etcd/channel.hpp"
#include "drivers/etcd/messages.hpp"

namespace lockmark::etcd {

struct lease {
  lease_id id = 0;
  duration ttl{};
  time_point valid_until{};  // by our clock; the server ends it no earlier
  bool over = false;         // the server has said so
  // Of the request that is under way.
  bool asking = false;
  time_point asked_at{};
  time_point ask_at{};  // the next one
};

// The whole seconds of a lease that lasts at least so long.
std::int64_t whole_seconds(duration asked);

class lease_keeper final : channel::talk {
 public:
  // `tasks`, `to` and `count` must outlive this; `tasks` has ended when this is destroyed.
  lease_keeper(loop& l, scope& tasks, channel& to, traffic& count)
      : loop_(l), tasks_(tasks), channel_(to), count_(count), poked_(l) {}

  // A new lease, kept alive from now on; null: there is none by then, or no server.
  task<std::shared_ptr<lease>> grant(duration ttl, call_limits until);

  // Lets go of a lease under which something may be that nobody knows of. Revoked in the
  // background, or by its own end.
  void abandon(std::shared_ptr<lease> l);

  // Ends a lease now. False: it could not be known by then; it is still kept alive.
  task<bool> end(std::shared_ptr<lease> l, time_point deadline);

  // Stops, and revokes every lease, as far as that is possible by then.
  task<void> end_all(time_point deadline);

 private:
  bool on_news(std::string_view message) override;
  void on_over(trouble why) override;

  task<void> keep_alive();
  void ask(lease& l);
  task<void> revoke_later(std::shared_ptr<lease> l);
  task<void> revoke(std::shared_ptr<lease> l, time_point deadline);

  loop& loop_;
  scope& tasks_;
  channel& channel_;
  traffic& count_;
  std::vector<std::shared_ptr<lease>> kept_;
  std::vector<std::shared_ptr<lease>> abandoned_;
  std::int32_t stream_ = 0;  // 0: none
  bool no_leader_ = false;   // this member's words
  bool running_ = false;
  bool ending_ = false;
  signal poked_;
};

}  // namespace lockmark::etcd
