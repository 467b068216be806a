#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "drivers/faulty/faulty.hpp"

namespace lockmark::faulty {
namespace {

// The state of all sessions, for miscounting on purpose. One mutex: not made for speed.
class bookkeeper {
 public:
  bookkeeper(std::size_t keys, const faults& f, std::uint32_t holders)
      : faults_(f), most_holders_(holders), keys_(keys) {}

  struct owner {
    const void* session = nullptr;
    std::uint32_t client = 0;
    friend bool operator==(const owner&, const owner&) = default;
  };

  enum class verdict : std::uint8_t { ask_inside, grant_taken, grant_wanted };

  // Whether to grant this acquire although it would be busy or wait. Who is let in is a holder like
  // others, whom the next ones meet.
  verdict judge(const request& r, owner who) {
    const std::lock_guard guard(mutex_);
    key_state& k = keys_[r.key];
    if (most_holders_ == 0 || is_holder(k, who)) return verdict::ask_inside;
    const bool is_taken = others_beside(k, r.shared) >= most_holders_;
    // A free key with waiters is about to be theirs.
    if (!is_taken && k.waiting == 0) return verdict::ask_inside;
    if (!is_nth(found_taken_, faults_.two_holders)) return verdict::ask_inside;
    ++stolen_;
    k.holds.push_back({who, 1, r.shared});
    return is_taken ? verdict::grant_taken : verdict::grant_wanted;
  }

  void waits(std::uint32_t key) {
    const std::lock_guard guard(mutex_);
    ++keys_[key].waiting;
  }

  void waits_no_more(std::uint32_t key) {
    const std::lock_guard guard(mutex_);
    --keys_[key].waiting;
  }

  // The token to show for a grant that carried `token`.
  std::uint64_t granted(const request& r, owner who, std::uint64_t token) {
    const std::lock_guard guard(mutex_);
    key_state& k = keys_[r.key];
    if (hold* mine = hold_of(k, who)) {
      ++mine->depth;
    } else {
      k.holds.push_back({who, 1, r.shared});
    }
    const std::uint64_t before = std::exchange(k.last_token, token);
    return before != 0 && is_nth(grants_, faults_.stale_token) ? before : token;
  }

  void released(std::uint32_t key, owner who) {
    const std::lock_guard guard(mutex_);
    key_state& k = keys_[key];
    hold* const mine = hold_of(k, who);
    if (mine == nullptr || --mine->depth > 0) return;
    *mine = k.holds.back();
    k.holds.pop_back();
  }

  void forget(const void* session) {
    const std::lock_guard guard(mutex_);
    for (key_state& k : keys_) {
      std::erase_if(k.holds, [&](const hold& h) { return h.who.session == session; });
    }
  }

  std::uint64_t last_token(std::uint32_t key) {
    const std::lock_guard guard(mutex_);
    return keys_[key].last_token;
  }

  bool shall_lose_update() {
    const std::lock_guard guard(mutex_);
    if (!is_nth(conflicts_, faults_.lost_updates)) return false;
    ++lost_;
    return true;
  }

  void count(server_counters& into) {
    const std::lock_guard guard(mutex_);
    into["faulty.two_holders"] = stolen_;
    into["faulty.lost_updates"] = lost_;
  }

 private:
  struct hold {
    owner who{};
    std::uint32_t depth = 0;
    bool shared = false;
  };
  struct key_state {
    std::vector<hold> holds;    // one for each owner
    std::uint32_t waiting = 0;  // calls that are inside the lock's acquire
    std::uint64_t last_token = 0;
  };

  static hold* hold_of(key_state& k, owner who) {
    const auto mine = std::ranges::find(k.holds, who, &hold::who);
    return mine == k.holds.end() ? nullptr : &*mine;
  }

  static bool is_holder(const key_state& k, owner who) {
    return std::ranges::find(k.holds, who, &hold::who) != k.holds.end();
  }

  // How many holders exclude this one; readers do not exclude each other.
  static std::uint32_t others_beside(const key_state& k, bool shared) {
    return static_cast<std::uint32_t>(
        std::ranges::count_if(k.holds, [&](const hold& h) { return !(h.shared && shared); }));
  }

  static bool is_nth(std::uint64_t& count, std::uint64_t n) { return n != 0 && ++count % n == 0; }

  const faults faults_;
  const std::uint32_t most_holders_;
  std::mutex mutex_;
  std::vector<key_state> keys_;
  std::uint64_t found_taken_ = 0;
  std::uint64_t stolen_ = 0;
  std::uint64_t grants_ = 0;
  std::uint64_t conflicts_ = 0;
  std::uint64_t lost_ = 0;
};

// Breaks the chosen calls. Shared by all sessions of a process.
class breaker {
 public:
  explicit breaker(const faults& f) : faults_(f) {}

  // Each call begins with this. `instance`: the caller, unless the call is the driver's.
  task<void> meet(loop& l, std::string_view name, std::optional<std::uint32_t> instance = {}) {
    if (name != faults_.breaks_in) co_return;
    if (faults_.breaks_instance && instance && *faults_.breaks_instance != *instance) co_return;
    if (++met_ < faults_.breaks_from) co_return;
    if (!faults_.hangs) {
      throw no_server(fmt::format("the faulty lock's {} fails on purpose", name));
    }
    co_await l.sleep_for(std::chrono::minutes{2});
  }

 private:
  const faults& faults_;
  std::atomic<std::uint64_t> met_{0};
};

class faulty_session final : public session {
 public:
  faulty_session(loop& l, std::unique_ptr<session> inside, bookkeeper& books, breaker& breaks,
                 const faults& f, std::uint32_t number)
      : loop_(l),
        inside_(std::move(inside)),
        books_(books),
        breaks_(breaks),
        number_(number),
        faults_(f),
        stall_begins_(l.now() + f.stall_at),
        stall_ends_(stall_begins_ + f.stall_for),
        random_(f.seed * 1'000'003 + number) {}

  task<outcome<grant>> acquire(request r) override {
    co_await breaks_.meet(loop_, "acquire", number_);
    if (!co_await arrives(r.deadline)) co_return refusal::deadline;
    const auto judged = books_.judge(r, owner_of(r));
    if (judged != bookkeeper::verdict::ask_inside) {
      stolen_.insert({r.key, r.client});
      tell(r, judged == bookkeeper::verdict::grant_taken);
      co_return grant{books_.last_token(r.key), loop_.now() + r.lease};
    }
    books_.waits(r.key);
    auto got = co_await inside_->acquire(r);
    books_.waits_no_more(r.key);
    if (got.done()) {
      grant shown = got.value();
      shown.token = books_.granted(r, owner_of(r), shown.token);
      got = shown;
    }
    co_return lose(got);
  }

  task<outcome<grant>> renew(request r) override {
    co_await breaks_.meet(loop_, "renew", number_);
    if (!co_await arrives(r.answer_by())) co_return refusal::deadline;
    if (stolen_.count({r.key, r.client}) != 0) {
      co_return grant{books_.last_token(r.key), loop_.now() + r.lease};
    }
    const auto more = co_await inside_->renew(r);
    co_return lose(more);
  }

  task<outcome<nothing>> release(request r) override {
    co_await breaks_.meet(loop_, "release", number_);
    if (!co_await arrives(r.answer_by())) co_return refusal::deadline;
    books_.released(r.key, owner_of(r));
    if (stolen_.erase({r.key, r.client}) != 0) co_return nothing{};
    const auto gone = co_await inside_->release(r);
    if (gone.refused(refusal::conflict) && books_.shall_lose_update()) {
      tell(r, true);
      co_return nothing{};
    }
    co_return lose(gone);
  }

  bool alive() const override { return inside_->alive(); }

  task<void> close() override {
    books_.forget(this);
    co_await inside_->close();
    co_await breaks_.meet(loop_, "close", number_);
  }

  traffic sent() const override { return inside_->sent(); }

 private:
  bookkeeper::owner owner_of(const request& r) const { return {this, r.client}; }

  void tell(const request& r, bool was_taken) const {
    if (!faults_.on_wrong_grant) return;
    faults_.on_wrong_grant({number_, r.client, r.key, loop_.now(), was_taken});
  }

  // Delays the call. False: the limit passed before it got through.
  task<bool> arrives(time_point limit) {
    if (faults_.delay == duration{} && faults_.stall_for == duration{}) co_return true;
    const time_point now = loop_.now();
    time_point when = now + faults_.delay;
    if (when >= stall_begins_ && when < stall_ends_) when = stall_ends_;
    if (when > now) co_await loop_.sleep_until(std::min(when, limit));
    co_return when <= limit;
  }

  template <class T>
  outcome<T> lose(const outcome<T>& o) {
    if (faults_.lost_replies <= 0 || share_(random_) >= faults_.lost_replies) return o;
    return doubt::connection_lost;
  }

  loop& loop_;
  const std::unique_ptr<session> inside_;
  bookkeeper& books_;
  breaker& breaks_;
  const std::uint32_t number_;
  const faults& faults_;
  const time_point stall_begins_;
  const time_point stall_ends_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> stolen_;  // key, client
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> share_{0, 1};
};

class faulty_driver final : public driver {
 public:
  faulty_driver(std::unique_ptr<driver> inside, std::size_t keys, const faults& f,
                std::uint32_t holders)
      : inside_(std::move(inside)), faults_(f), books_(keys, f, holders), breaks_(faults_) {}

  task<description> prepare(loop& l, time_point deadline) override {
    co_await breaks_.meet(l, "prepare");
    co_return co_await inside_->prepare(l, deadline);
  }
  task<std::vector<finding>> preflight(loop& l, demand d, time_point deadline) override {
    return inside_->preflight(l, d, deadline);
  }
  task<void> tidy(loop& l, time_point deadline) override { return inside_->tidy(l, deadline); }
  task<void> wipe(loop& l, time_point deadline) override {
    co_await breaks_.meet(l, "wipe");
    co_await inside_->wipe(l, deadline);
  }
  task<server_counters> counters(loop& l, time_point deadline) override {
    co_await breaks_.meet(l, "counters");
    server_counters counted = co_await inside_->counters(l, deadline);
    books_.count(counted);
    co_return counted;
  }
  task<std::vector<std::uint64_t>> commits(loop& l, time_point deadline) override {
    return inside_->commits(l, deadline);
  }
  std::uint64_t connections(const demand& d) const override { return inside_->connections(d); }
  std::uint32_t logins_at_once() const override { return inside_->logins_at_once(); }
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    const std::uint32_t number = who.number;
    co_await breaks_.meet(l, "open", number);
    auto opened = co_await inside_->open(l, std::move(who), deadline);
    co_return std::make_unique<faulty_session>(l, std::move(opened), books_, breaks_, faults_,
                                               number);
  }

 private:
  const std::unique_ptr<driver> inside_;
  const faults faults_;
  bookkeeper books_;
  breaker breaks_;
};

}  // namespace

std::unique_ptr<driver> wrap(std::unique_ptr<driver> inside, std::size_t keys, const faults& f,
                             std::uint32_t holders) {
  return std::make_unique<faulty_driver>(std::move(inside), keys, f, holders);
}

}  // namespace lockmark::faulty
