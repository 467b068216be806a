#include "drivers/redis/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "drivers/redis/answer_shape.hpp"
#include "drivers/redis/slot.hpp"

namespace lockmark::redis {
namespace {

// Asked, and it broke: only the reason is known. Throws no_server for what no Redis does.
doubt lost(link& on, std::error_code error) {
  on.close();
  if (is_no_redis(error)) throw no_server(sentence(on.where(), error));
  return error == std::errc::timed_out ? doubt::deadline : doubt::connection_lost;
}

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
    : loop_(l),
      at_(&at),
      count_(count),
      how_(at.where().how),
      link_(l, at.where(), count),
      last_(&link_) {}

connection::connection(loop& l, const target& where, traffic& count)
    : loop_(l),
      own_(where.how == target::form::single ? nullptr
                                             : std::make_unique<topology_cache>(l, where, count)),
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
    // Without a connection it is no matter of time: whether anybody is there is not known.
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
    // What was not written whole is not executed.
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
    on.owed() += followers_;  // they were executed, whatever happened to the first
    if (treatment == errors::are_answers) co_return std::move(r);
    if (fallback == nullptr || !r.is_error("NOSCRIPT")) co_return judged(on, r);
    out_ = as_eval(out_, *std::exchange(fallback, nullptr));
  }
}

// Whoever is not the master any more, or not yet, is left; the next command looks for another.
outcome<reply> connection::judged(link& on, const reply& r) {
  if (judge(r, how_) == verdict::not_now) {
    if (how_ != target::form::single && is_no_master(r)) on.close();
    return refusal::unavailable;
  }
  throw no_server(fmt::format("{} answered {} with an error: {}", on.where().name(),
                              name_of_command(out_), excerpt(r.text)));
}

void connection::demand_shape(const link& on, const reply& r) const {
  if (is_answer_to(out_, r)) return;
  throw no_server(fmt::format("{} answered {} with {}, which is no answer to it", on.where().name(),
                              name_of_command(out_), describe(r)));
}

// --- what is not part of a lock ---

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
        l->close();  // and owes nothing any more
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
