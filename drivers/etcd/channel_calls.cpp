// The calls of a channel, as coroutines.
#include <fmt/format.h>

#include <utility>

#include "drivers/etcd/channel_line.hpp"
#include "drivers/etcd/paths.hpp"

namespace lockmark::etcd {
namespace {

std::string_view request_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool may_be_an_outcome(trouble t) {
  return t == trouble::none || t == trouble::not_now || t == trouble::unknown ||
         t == trouble::lease_gone || t == trouble::token_ended;
}

}  // namespace

doubt doubt_of(const answer& a) {
  return a.ended == answer::ending::lost ? doubt::connection_lost : doubt::deadline;
}

channel::exchange::~exchange() {
  if (id_ == 0) return;
  on_.calls_.erase(id_);
  on_.line_->session.cancel(id_);
  on_.flush_soon();
}

bool channel::exchange::begin(std::string_view path, std::string_view request) {
  if (!on_.open_ && path != login_path) return false;
  path_ = path;
  // A server may refuse any call with a token that has ended, even the one that asks for another.
  const std::string_view token = path == login_path ? std::string_view{} : on_.token_;
  id_ = on_.line_->session.start(path, request, grpc_session::more::none, token);
  if (id_ == 0) {
    on_.lose("takes no more calls");
    return false;
  }
  on_.calls_.emplace(id_, this);
  ++on_.count_.commands;
  ++on_.count_.round_trips;
  on_.flush_soon();
  return true;
}

answer channel::exchange::raw() const {
  answer said;
  said.ended = answer::ending::lost;
  if (lost_ || end_.ended == call_end::how::broken) return said;
  said.ended = answer::ending::unsent;
  if (end_.ended == call_end::how::refused) return said;
  said.ended = answer::ending::answered;
  said.what = judge_status(end_.code, end_.message);
  if (said.what == trouble::none) said.body = body_;
  return said;
}

answer channel::exchange::result() const {
  on_.check_usable();
  answer said = raw();
  if (said.ok() && messages_ != 1) throw no_server(on_.nonsense(path_));
  if (may_be_an_outcome(said.what)) return said;
  throw no_server(fmt::format("{} {}", on_.name(), complaint()));
}

std::string channel::exchange::complaint() const {
  return complaint_about(judge_status(end_.code, end_.message), request_of(path_), end_.code,
                         end_.message);
}

task<answer> channel::call(std::string_view path, std::string request, call_limits until) {
  answer said;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!open_) co_await connected_by(until.begin);
    if (!open_ || loop_.now() >= until.begin) break;
    const std::string used = token_;
    said = co_await ask(path, request, until.answer);
    if (said.what != trouble::token_ended) co_return said;
    const bool again = co_await log_in_again(used, until.begin);
    if (!again) break;
  }
  said = {};
  co_return said;
}

task<answer> channel::ask(std::string_view path, const std::string& request, time_point deadline) {
  answer said;
  exchange one{*this};
  if (!one.begin(path, request)) co_return said;
  const bool in_time = co_await one.ended_by(deadline);
  if (in_time) {
    said = one.result();
  } else {
    check_usable();
    said.ended = answer::ending::silent;
  }
  co_return said;
}

std::int32_t channel::start_talk(std::string_view path, std::string_view first_message, talk& t) {
  if (!open_) return 0;
  const std::int32_t id =
      line_->session.start(path, first_message, grpc_session::more::may_follow, token_);
  if (id == 0) return 0;
  talks_.emplace(id, &t);
  ++count_.commands;
  flush_soon();
  return id;
}

void channel::say(std::int32_t id, std::string_view message) {
  if (!talks_.contains(id)) return;
  line_->session.send(id, message);
  ++count_.commands;
  flush_soon();
}

void channel::on_message(std::int32_t call, std::string_view message) {
  served_ = true;
  if (const auto found = calls_.find(call); found != calls_.end()) {
    if (++found->second->messages_ == 1) {
      found->second->body_ = message;
    } else {
      bad_news_ = "a second answer to one call";
    }
    return;
  }
  const auto found = talks_.find(call);
  if (found == talks_.end() || found->second->on_news(message)) return;
  bad_news_ = "a message that has no place in its stream";
}

void channel::on_end(std::int32_t call, call_end end) {
  served_ = true;
  if (const auto found = calls_.find(call); found != calls_.end()) {
    exchange& mine = *found->second;
    calls_.erase(found);
    mine.id_ = 0;
    mine.end_ = std::move(end);
    mine.ended_.set();
    return;
  }
  const auto found = talks_.find(call);
  if (found == talks_.end()) return;
  talk* const over = found->second;
  talks_.erase(found);
  const bool is_answer = end.ended == call_end::how::answered && end.code != 0;
  over->on_over(is_answer ? judge_status(end.code, end.message) : trouble::unknown);
}

std::string channel::nonsense(std::string_view path) const {
  return fmt::format("{}: answered {} with what no etcd server says", name(), request_of(path));
}

}  // namespace lockmark::etcd
