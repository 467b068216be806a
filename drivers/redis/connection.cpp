#include "drivers/redis/connection.hpp"

#include <algorithm>
#include <utility>

#include "drivers/redis/replies.hpp"
#include "drivers/redis/slot.hpp"

namespace lockmark::redis {
namespace {

constexpr int wait_ms = 1000;  // Redisson's slavesSyncTimeout

}  // namespace

bool is_no_master(const reply& r) {
  // Redis 6 puts a script's name before the word.
  return r.is_error("LOADING") || r.is_error("MASTERDOWN") || r.is_error("READONLY") ||
         (r.is(reply::kind::error) && r.text.find("-READONLY ") != r.text.npos);
}

verdict judge(const reply& r, target::form how) {
  using form = target::form;
  constexpr auto is_one_of = [](const reply& e, auto... words) {
    return (e.is_error(words) || ...);
  };
  if (!r.is(reply::kind::error)) return verdict::answer;
  const bool not_now =
      is_one_of(r, "LOADING", "BUSY", "MASTERDOWN", "NOREPLICAS") ||
      (how != form::single && is_no_master(r)) ||
      (how == form::cluster && is_one_of(r, "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK"));
  return not_now ? verdict::not_now : verdict::unexpected;
}

connection::connection(loop& l, topology_cache& at, traffic& count)
    : connection(l, at.where(), count, nullptr) {
  at_ = &at;
}

connection::connection(loop& l, const target& where, traffic& count)
    : connection(l, where, count,
                 where.how == target::form::single
                     ? nullptr
                     : std::make_unique<topology_cache>(l, where, count)) {}

connection::connection(loop& l, const target& where, traffic& count,
                       std::unique_ptr<topology_cache> own)
    : loop_(l),
      own_(std::move(own)),
      at_(own_.get()),
      count_(count),
      how_(where.how),
      link_(l, where, count),
      last_(&link_) {}

task<void> connection::open(time_point deadline) {
  if (how_ == target::form::cluster) {
    if (at_->knows_the_cluster()) co_return;
    const bool known = co_await at_->look(deadline);
    if (!known) throw no_server(at_->reason());
    co_return;
  }
  const std::error_code error = co_await reach(link_, deadline);
  if (!error) co_return;
  const bool no_master = how_ == target::form::sentinel && !at_->reason().empty();
  throw no_server(no_master ? at_->reason() : sentence(link_.where(), error));
}

// The path of every command of a run: one coroutine, and one more while it waits for bytes.
task<outcome<reply>> connection::exchange_on(link& on, time_limit until, const script* fallback,
                                             errors treatment) {
  std::error_code error;
  if (!on.is_open()) {
    // Not refusal::deadline: without a connection, nobody knows whether the server is there.
    if (loop_.now() >= until.begin) co_return refusal::unavailable;
    error = co_await reach(on, until.begin);
  }
  if (is_no_redis(error)) throw no_server(sentence(on.where(), error));
  if (error) co_return refusal::unavailable;
  while (true) {
    if (loop_.now() >= until.begin) co_return refusal::unavailable;
    const std::size_t written = on.begin_write(out_, 1 + followers_, error);
    if (!error && written < out_.size()) {
      error = co_await on.finish_write(std::string_view{out_}.substr(written), until.begin);
    }
    // A command that was not sent completely is not executed.
    if (error) {
      on.close();
      co_return refusal::unavailable;
    }
    ++count_.round_trips;
    reply r;
    for (++on.owed(); on.owed() > 0; --on.owed()) {
      while (!on.parse(r, error) && !error) {
        const received got = co_await on.receive(until.answer);
        on.feed(got, until.answer, error);
      }
      if (error) co_return lost(on, error);
    }
    if (!r.is(reply::kind::error)) {
      if (treatment == errors::throw_them) demand_shape(on, r);
      co_return std::move(r);
    }
    on.owed() += followers_;  // they are executed even if the first failed
    if (treatment == errors::are_answers) co_return std::move(r);
    if (fallback == nullptr || !r.is_error("NOSCRIPT")) co_return judged(on, r);
    out_ = as_eval(out_, *std::exchange(fallback, nullptr));
  }
}

// Closes the connection to a server that is not the master; the next command looks for the master.
outcome<reply> connection::judged(link& on, const reply& r) {
  if (judge(r, how_) == verdict::not_now) {
    if (how_ != target::form::single && is_no_master(r)) on.close();
    return refusal::unavailable;
  }
  throw no_server(answered_with_error(on.where().name(), name_of_command(out_), r));
}

doubt connection::lost(link& on, std::error_code error) {
  on.close();
  if (is_no_redis(error)) throw no_server(sentence(on.where(), error));
  return error == std::errc::timed_out ? doubt::deadline : doubt::connection_lost;
}

void connection::demand_shape(const link& on, const reply& r) const {
  if (is_answer_to(out_, r)) return;
  throw no_server(answered_wrongly(on.where().name(), name_of_command(out_), r));
}

// --- replicas ---

// Waits for replicas: for a given number, or for all as Redisson's client does unless the server is
// single. Source: CommandAsyncService.syncedEval of Redisson 3.52 to 4.7.
//
// The master's number of replicas is asked once and trusted until their confirmations contradict
// it. A master without replicas is not waited for.

// Of the master that the command in out_ goes to. None if it cannot be asked: the command will fail
// the same way.
task<replication> connection::ask_replication(time_point deadline, bool to_disk) {
  const bool is_cluster = how_ == target::form::cluster;
  link* on = &link_;
  if (is_cluster) on = co_await still_serving(slot_of(routing_key(out_)), deadline);
  if (on == nullptr) co_return replication{};
  if (!on->is_open()) {
    const std::error_code error = co_await reach(*on, deadline);
    if (error) co_return replication{};
  }
  std::optional<replication>& kept = at_->replication_of(on->at());
  if (kept) co_return *kept;
  std::string command = std::exchange(out_, {});
  append_command(out_, "INFO", to_disk ? "ALL" : "replication");
  const outcome<reply> said = co_await exchange_on(*on, deadline, nullptr, errors::are_answers);
  out_ = std::move(command);
  if (!said.done()) co_return replication{};
  const std::string& info = said.value().text;
  kept = replication{
      .replicas = static_cast<std::int64_t>(number_in(info_field(info, "connected_slaves"))),
      .to_disk = to_disk && info_field(info, "aof_enabled") == "1" && has_waitaof(info)};
  co_return *kept;
}

void connection::write_evalsha(const script& s, int key_count,
                               const std::vector<argument>& arguments) {
  std::vector<argument> all{"EVALSHA", s.sha1, key_count};
  all.insert(all.end(), arguments.begin(), arguments.end());
  out_.clear();
  append_command(out_, all);
}

task<outcome<replicated_reply>> connection::exchange_replicated(time_limit until, bool to_disk,
                                                                const script& fallback) {
  replication of_master;
  if (at_ != nullptr) of_master = co_await ask_replication(until.begin, to_disk);
  outcome<replicated_reply> ending = co_await exchange_confirmed(until, of_master, &fallback);
  const bool other = ending.done() && ending.value().confirmed != of_master.replicas;
  if (other && at_ != nullptr) at_->replication_of(last_->at()).reset();
  co_return ending;
}

task<outcome<replicated_reply>> connection::exchange_confirmed(time_limit until,
                                                               replication of_master,
                                                               const script* fallback) {
  replicated_reply result;
  result.replicas = of_master.replicas;
  if (result.replicas > 0) {
    if (of_master.to_disk) {
      append_command(out_, "WAITAOF", 1, result.replicas, wait_ms);
    } else {
      append_command(out_, "WAIT", result.replicas, wait_ms);
    }
    followers_ = 1;
  }
  const outcome<reply> said = co_await exchange(until, fallback, errors::throw_them);
  followers_ = 0;
  if (!said.done()) co_return said.without_value<replicated_reply>();
  result.said = said.value();
  if (result.replicas == 0) co_return result;
  reply confirmed;
  const std::error_code error = co_await last_->read(confirmed, until.answer);
  if (error) co_return lost(*last_, error);
  // WAITAOF counts the master itself, and then the replicas.
  if (of_master.to_disk && is_pair_of_numbers(confirmed)) {
    result.confirmed = confirmed.parts[1].number;
    co_return result;
  }
  // An error confirms nothing.
  const bool counts = !of_master.to_disk && confirmed.is(reply::kind::integer);
  if (!counts && !confirmed.is(reply::kind::error)) {
    const char* const command = of_master.to_disk ? "WAITAOF" : "WAIT";
    throw no_server(answered_wrongly(last_->where().name(), command, confirmed));
  }
  result.confirmed = confirmed.number;
  co_return result;
}

// --- outside of locks ---

task<reply> connection::demand_sent(time_point deadline) {
  if (how_ != target::form::cluster && !link_.is_open()) co_await open(deadline);
  const outcome<reply> said = co_await exchange(deadline, nullptr, errors::are_answers);
  if (said.done()) co_return said.value();
  const bool broken = said.in_doubt() && said.why_in_doubt() == doubt::connection_lost;
  throw no_server(sentence(link_.where(), broken ? std::error_code{asio::error::eof}
                                                 : std::make_error_code(std::errc::timed_out)));
}

task<std::vector<target>> connection::masters(time_point deadline) {
  std::vector<target> each{link_.where()};
  if (how_ != target::form::cluster) co_return each;
  const bool known = co_await at_->look(deadline);
  if (!known) throw no_server(at_->reason());
  target one = each.front();
  one.how = target::form::single;
  one.nat.clear();  // these addresses are translated already
  each.clear();
  for (const host_port& at : at_->masters()) {
    one.hosts = {at};
    each.push_back(one);
  }
  co_return each;
}

// --- without waiting ---

void connection::post_sent() {
  link* const on = how_ == target::form::cluster ? serving(slot_of(routing_key(out_))) : &link_;
  if (on == nullptr || !on->is_open()) return;
  if (on->write_now(out_, 1)) return on->close();
  ++on->owed();
}

bool connection::owed() const {
  const auto owes = [](const auto& l) { return l->owed() > 0; };
  return link_.owed() > 0 || std::ranges::any_of(nodes_, owes);
}

task<bool> connection::settle(time_point deadline) {
  std::vector<link*> all{&link_};
  for (const auto& l : nodes_) all.push_back(l.get());
  bool all_came = true;
  for (link* const l : all) {
    for (reply r; l->owed() > 0;) {
      const std::error_code error = co_await l->read(r, deadline);
      if (error) {
        l->close();  // no replies are due any more
        all_came = false;
      } else {
        --l->owed();
      }
    }
  }
  co_return all_came;
}

void connection::close() {
  link_.close();
  for (const auto& l : nodes_) l->close();
}

}  // namespace lockmark::redis
