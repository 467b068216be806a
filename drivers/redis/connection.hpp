// One client's connection to a deployment of Redis, with one command at a time: to a server, to the
// current master under Sentinel, or to the masters of a Cluster, where each command goes to the
// master that serves its key.
//
// Knows no locks. It connects by itself when a command finds it closed, and closes itself when an
// answer is overdue, so that a late reply is never taken for the next command's. A command that was
// sent and not answered is never sent again; one that was certainly not executed may be, as after a
// redirection.
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

// The meaning of a reply to a lock's command. An error is never the outcome of a lock: either the
// server cannot work now and has done nothing, or the error is unexpected and the run must end.
enum class verdict : std::uint8_t { answer, not_now, unexpected };
verdict judge(const reply& r, target::form how);

// The error of a server that is no longer the master, or not yet. It has done nothing.
bool is_no_master(const reply& r);

// The key by which a Cluster routes this command: a script's first key, otherwise the first
// argument.
std::string_view routing_key(std::string_view command);

// A command's answer, and how many replicas have confirmed its writes.
struct replicated_reply {
  reply said;
  std::int64_t replicas = 0;  // waited for
  std::int64_t confirmed = 0;
};

// The two deadlines of a call. Nothing new begins after `begin`: no connection, no command, no
// search for the servers. Answers to earlier requests are awaited until `answer`.
struct time_limit {
  time_limit(time_point both) : begin(both), answer(both) {}
  time_limit(time_point b, time_point a) : begin(b), answer(a) {}
  time_limit(const request& r) : begin(r.deadline), answer(r.answer_by()) {}

  time_point begin;
  time_point answer;
};

class connection {
 public:
  // Shares the knowledge of the servers' addresses with other connections; `at` and `count` must
  // outlive this.
  connection(loop& l, topology_cache& at, traffic& count);
  // Finds the servers by itself. `where` and `count` must outlive this.
  connection(loop& l, const target& where, traffic& count);

  // Throws no_server if that is not possible by the deadline. Of a Cluster it only reads the map:
  // nodes are connected to when they are needed.
  task<void> open(time_point deadline);

  // Sends a command and waits for its answer, never an error reply. unavailable, deadline: nothing
  // was executed. doubt: it was sent and not answered. Throws no_server for an error that is no
  // outcome of a lock. REQUIRES, as all that follow: the task is awaited at once, one at a time.
  template <class... Arguments>
  task<outcome<reply>> command(time_limit until, const Arguments&... arguments) {
    out_.clear();
    append_command(out_, arguments...);
    return exchange(until, nullptr);
  }

  // The same for a script; its text is sent to a server that has lost it.
  template <class... Arguments>
  task<outcome<reply>> evaluate(time_limit until, const script& s, int key_count,
                                const Arguments&... arguments) {
    out_.clear();
    append_evalsha(out_, s, key_count, arguments...);
    return exchange(until, &s);
  }

  // command() followed by WAIT, up to 1 s, for this many replicas. Does not undo writes that too
  // few have confirmed.
  template <class... Arguments>
  task<outcome<replicated_reply>> command_confirmed(time_limit until, std::int64_t replicas,
                                                    const Arguments&... arguments) {
    out_.clear();
    append_command(out_, arguments...);
    return exchange_confirmed(until, {.replicas = replicas});
  }

  // evaluate() followed by WAIT for as many replicas as the master has, as Redisson's syncedEval.
  // `to_disk`: by WAITAOF, where the master can wait for an append-only file.
  template <class... Arguments>
  task<outcome<replicated_reply>> evaluate_synced(time_limit until, bool to_disk, const script& s,
                                                  int key_count, const Arguments&... arguments) {
    out_.clear();
    append_evalsha(out_, s, key_count, arguments...);
    return exchange_replicated(until, to_disk, s);
  }

  // Both for any number of arguments.
  task<outcome<reply>> evaluate_all(time_limit until, const script& s, int key_count,
                                    const std::vector<argument>& arguments) {
    write_evalsha(s, key_count, arguments);
    return exchange(until, &s);
  }
  task<outcome<replicated_reply>> evaluate_all_synced(time_limit until, bool to_disk,
                                                      const script& s, int key_count,
                                                      const std::vector<argument>& arguments) {
    write_evalsha(s, key_count, arguments);
    return exchange_replicated(until, to_disk, s);
  }

  // For commands outside of locks: error replies are answers too; throws no_server without answer.
  template <class... Arguments>
  task<reply> demand(time_point deadline, const Arguments&... arguments) {
    out_.clear();
    append_command(out_, arguments...);
    return demand_sent(deadline);
  }

  // The deployment's name, for people.
  std::string name() const { return link_.where().name(); }

  // Each master of a Cluster as a target of its own; of any other deployment, the target. Throws
  // no_server.
  task<std::vector<target>> masters(time_point deadline);

  // Sends a command without waiting for its answer, which is dropped. Does nothing on a closed
  // connection.
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
  connection(loop& l, const target& where, traffic& count, std::unique_ptr<topology_cache> own);

  enum class errors : std::uint8_t { throw_them, are_answers };

  task<outcome<reply>> exchange(time_limit until, const script* fallback,
                                errors treatment = errors::throw_them) {
    if (how_ == target::form::cluster) return exchange_routed(until, fallback, treatment);
    return exchange_on(link_, until, fallback, treatment);
  }
  task<outcome<reply>> exchange_on(link& on, time_limit until, const script* fallback,
                                   errors treatment);
  task<outcome<reply>> exchange_routed(time_limit until, const script* fallback, errors treatment);
  void write_evalsha(const script& s, int key_count, const std::vector<argument>& arguments);
  task<outcome<replicated_reply>> exchange_replicated(time_limit until, bool to_disk,
                                                      const script& fallback);
  task<outcome<replicated_reply>> exchange_confirmed(time_limit until, replication of_master,
                                                     const script* fallback = nullptr);
  task<replication> ask_replication(time_point deadline, bool to_disk);
  outcome<reply> judged(link& on, const reply& r);
  // The ending after `error` while an answer was due. Throws no_server for nonsense.
  static doubt lost(link& on, std::error_code error);
  // Throws no_server if this is no answer to the command in out_.
  void demand_shape(const link& on, const reply& r) const;
  task<reply> demand_sent(time_point deadline);
  void post_sent();

  task<std::error_code> reach(link& which, time_point deadline) {
    if (how_ == target::form::sentinel) return at_->open_master(which, deadline);
    return which.open(deadline);
  }

  // The next step for a command that a Cluster's node did not execute.
  struct route {
    link* next = nullptr;  // null: no node is known to serve the slot
    bool asking = false;   // send ASKING first
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
  link* last_;                                // used last
  std::string out_;                           // the command being asked
  std::size_t followers_ = 0;                 // commands in out_ behind the first
};

}  // namespace lockmark::redis
