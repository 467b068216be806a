#include "drivers/etcd/watches.hpp"

#include <utility>

#include "drivers/etcd/paths.hpp"

namespace lockmark::etcd {
namespace {

constexpr int refused_code = 2;  // a watch that ends has words, and no code

}  // namespace

task<watch_board::ending> watch_board::deletion_of(std::string key, revision from,
                                                   time_point deadline) {
  const std::int64_t id = ++last_id_;
  const std::string request = watch_request(id, key, from);
  if (stream_ == 0) {
    stream_ = channel_.start_talk(watch_path, request, *this);
    if (stream_ == 0) co_return ending::lost;
  } else {
    channel_.say(stream_, request);
  }
  watch mine{loop_};
  watches_.emplace(id, &mine);
  co_await mine.news.wait_until(deadline);
  watches_.erase(id);
  if (mine.is_set && stream_ != 0) channel_.say(stream_, unwatch_request(id));
  // The stream keeps the login that it was started with.
  if (std::exchange(login_ended_, false)) channel_.distrust("the login has run out");
  co_return mine.end;
}

bool watch_board::on_news(std::string_view message) {
  const auto news = read_watch_news(message);
  if (!news) return false;
  const auto found = watches_.find(news->id);
  if (found == watches_.end()) return true;  // nobody waits any more
  watch& w = *found->second;
  if (news->ended) {
    w.is_set = false;
    login_ended_ = judge_status(refused_code, news->reason) == trouble::token_ended;
    w.end = news->compacted || login_ended_ ? ending::lost : ending::refused;
  } else if (news->deleted) {
    w.end = ending::deleted;
    ++count_.wakeups;
  } else {
    return true;  // it was set
  }
  w.news.set();
  return true;
}

void watch_board::on_over(trouble /*why*/) {
  stream_ = 0;
  for (const auto& [id, w] : watches_) {
    w->is_set = false;
    w->end = ending::lost;
    w->news.set();
  }
}

}  // namespace lockmark::etcd
