// One client's connection to a deployment of Redis, on which a command is asked and answered before
// the next: to a server, to whoever is the master that sentinels watch, or to the masters of a
// Cluster, of which each command goes to the one that serves its key.
//
// Knows no locks. It connects by itself when a command finds it closed, and closes itself when an
// answer is overdue, so that a late reply is never taken for the next command's. A command that
// was sent and not answered is never sent again; one that was certainly not executed may be: that
// is what redirections are.
#pragma once

#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "drivers/redis/link.hpp"
#include "drivers/redis/resp.hpp"
#include "drivers/redis/script.hpp"
#include "drivers/redis/target.hpp"
#include "drivers/redis/topology_cache.hpp"
#include "harness/driver.hpp"

namespace lockmark::redis {

// What a reply to a lock's command means. An error never is an ending of a lock: either the server
// cannot work now and has done nothing, or nobody expected this and the run must end.
enum class verdict : std::uint8_t { answer, not_now, unexpected };
verdict judge(const reply& r, target::form how);

// An error of a server that is not the master any more, or not yet. It has done nothing.
bool is_no_master(const reply& r);

// The key by which a Cluster routes this command: the first of a script's, otherwise the first
// argument.
std::string_view routing_key(std::string_view command);

// A script's answer, and how many replicas have confirmed what it wrote.
struct replicated_reply {
  reply said;
  std::int64_t replicas = 0;  // that were waited for; 0: none was
  std::int64_t confirmed = 0;
};

// Until when a call may do what. Nothing new begins after `begin`: no connection, no command, no
// question where the servers are. What was asked by then may be answered until `answer`.
struct time_limit {
  time_limit(time_point both) : begin(both), answer(both) {}
  time_limit(time_point b, time_point a) : begin(b), answer(a) {}
  time_limit(const request& r) : begin(r.deadline), answer(r.answer_by()) {}

  time_point begin;
  time_point answer;
};

class connection {
 public:
  // Shares with others what is known about where the servers are; `at` and `count` must outlive
  // this.
  connection(loop& l, topology_cache& at, traffic& count);
  // Finds out alone. `where` and `count` must outlive this.
  connection(loop& l, const target& where, traffic& count);

  // Throws no_server when that is not possible by the deadline. Of a Cluster, only the map: nodes
  // are connected to when they are needed.
  task<void> open(time_point deadline);

  // Asks and waits for the answer, never an error reply. unavailable, deadline: nothing was
  // executed. doubt: it was sent, and not answered. Throws no_server for an error that is no lock's
  // ending. REQUIRES, of all that follow: the task is awaited at once, one at a time.
  template <class... Arguments>
  task<outcome<reply>> command(time_limit until, const Arguments&... arguments) {
    out_.clear();
    append_command(out_, arguments...);
    return exchange(until, nullptr);
  }

  // The same by a script, whose text is sent again to a server that has lost it.
  template <class... Arguments>
  task<outcome<reply>> evaluate(time_limit until, const script& s, int key_count,
                                const Arguments&... arguments) {
    out_.clear();
    append_evalsha(out_, s, key_count, arguments...);
    return exchange(until, &s);
  }

  // The same with the script's whole text, and waits besides until the replicas have confirmed what
  // it wrote, or 1 s: Redisson's syncedEval. Nobody undoes what too few have confirmed.
  template <class... Arguments>
  task<outcome<replicated_reply>> evaluate_replicated(time_limit until, const script& s,
                                                      int key_count,
                                                      const Arguments&... arguments) {
    out_.clear();
    append_command(out_, "EVAL", s.text, key_count, arguments...);
    return exchange_replicated(until);
  }

  // command() and evaluate(), with WAIT behind them for so many replicas, or 1 s.
  template <class... Arguments>
  task<outcome<replicated_reply>> command_confirmed(time_limit until, std::int64_t replicas,
                                                    const Arguments&... arguments) {
    out_.clear();
    append_command(out_, arguments...);
    return exchange_confirmed(until, replicas);
  }
  template <class... Arguments>
  task<outcome<replicated_reply>> evaluate_confirmed(time_limit until, std::int64_t replicas,
                                                     const script& s, int key_count,
                                                     const Arguments&... arguments) {
    out_.clear();
    append_command(out_, "EVAL", s.text, key_count, arguments...);
    return exchange_confirmed(until, replicas);
  }

  // evaluate() for any number of arguments.
  task<outcome<reply>> evaluate_all(time_limit until, const script& s, int key_count,
                                    const std::vector<argument>& arguments) {
    std::vector<argument> all{argument{"EVALSHA"}, argument{s.sha1}, argument{key_count}};
    all.insert(all.end(), arguments.begin(), arguments.end());
    out_.clear();
    append_command(out_, std::as_const(all).data(), all.size());
    return exchange(until, &s);
  }

  // For what is not part of a lock: error replies are answers too, and no answer is no_server.
  template <class... Arguments>
  task<reply> demand(time_point deadline, const Arguments&... arguments) {
    out_.clear();
    append_command(out_, arguments...);
    return demand_sent(deadline);
  }
  task<reply> demand_all(time_point deadline, const std::vector<argument>& arguments) {
    out_.clear();
    append_command(out_, arguments.data(), arguments.size());
    return demand_sent(deadline);
  }

  // The deployment, for people.
  std::string name() const { return link_.where().name(); }

  // Each master of a Cluster as a target of its own; of anything else, the target. For what is to
  // be asked of, or done at, every master. Throws no_server.
  task<std::vector<target>> masters(time_point deadline);

  // Sends without waiting for the answer, which is thrown away when it comes. Does nothing on a
  // closed connection.
  template <class... Arguments>
  void post(const Arguments&... arguments) {
    out_.clear();
    append_command(out_, arguments...);
    post_sent();
  }

  // True while answers to post() are outstanding.
  bool owed() const;
  // Waits for them. False: not all came.
  task<bool> settle(time_point deadline);

  void close();

 private:
  enum class errors : std::uint8_t { throw_them, are_answers };

  task<outcome<reply>> exchange(time_limit until, const script* fallback,
                                errors treatment = errors::throw_them) {
    if (how_ == target::form::cluster) return exchange_routed(until, fallback, treatment);
    return exchange_on(link_, until, fallback, treatment);
  }
  task<outcome<reply>> exchange_on(link& on, time_limit until, const script* fallback,
                                   errors treatment);
  task<outcome<reply>> exchange_routed(time_limit until, const script* fallback, errors treatment);
  task<outcome<replicated_reply>> exchange_replicated(time_limit until);
  task<outcome<replicated_reply>> exchange_confirmed(time_limit until, std::int64_t replicas);
  task<std::int64_t> count_replicas(time_point deadline);
  outcome<reply> judged(link& on, const reply& r);
  // Throws no_server for what is no answer to the command in out_.
  void demand_shape(const link& on, const reply& r) const;
  task<reply> demand_sent(time_point deadline);
  void post_sent();

  task<std::error_code> reach(link& which, time_point deadline) {
    if (how_ == target::form::sentinel) return at_->open_master(which, deadline);
    return which.open(deadline);
  }

  // What a Cluster's node has said of a command that it did not execute, and what comes next.
  struct route {
    link* next = nullptr;  // null: nobody is known to serve the slot
    bool asking = false;   // the next node is to be told that it was asked on purpose
    unsigned turns = 0;
    time_point give_up = time_point::max();  // of a Cluster that says it is down
  };
  task<bool> go_on(route& r, const outcome<reply>& said, time_point deadline);
  task<bool> pause(duration how_long, time_point deadline);
  task<std::error_code> announce(link& to, time_point deadline);
  link* serving(std::uint16_t slot);
  task<link*> still_serving(std::uint16_t slot, time_point deadline);
  link& node(const host_port& at);

  loop& loop_;
  std::unique_ptr<topology_cache> own_;
  topology_cache* at_;  // null: a single server, alone
  traffic& count_;
  const target::form how_;
  link link_;                                 // unless it is a Cluster
  std::vector<std::unique_ptr<link>> nodes_;  // of a Cluster, each connected when first needed
  link* last_;                                // which answered last
  std::string out_;                           // the command being asked
  std::size_t followers_ = 0;                 // commands in out_ behind the first
};

}  // namespace lockmark::redis
